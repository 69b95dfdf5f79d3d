"""The figure that all pictures are drawn on. Imports matplotlib: see `drawing.new_picture`."""

import io

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


class Picture(Figure):
    """A matplotlib Figure that notebooks show, whether pyplot is imported or not."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        FigureCanvasAgg(self)

    def _repr_png_(self):
        """The picture for IPython."""
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=100)
        return file.getvalue()
