"""What every picture must be: drawn without a warning, and nothing cut off."""

import io

import pytest


@pytest.fixture
def check_whole():
    """A function that draws a figure and fails where a part of it lies outside."""

    def check(figure):
        figure.savefig(io.BytesIO(), format="png")
        width, height = figure.canvas.get_width_height()
        renderer = figure.canvas.get_renderer()
        parts = [*figure.axes, *figure.legends, figure._suptitle]
        boxes = {str(part): part.get_tightbbox(renderer) for part in parts}
        outside = [
            name
            for name, box in boxes.items()
            if min(box.x0, box.y0) < -1 or box.x1 > width + 1 or box.y1 > height + 1
        ]
        assert outside == []

    return check
