"""The weights of a biLM that a config only names: sought where they can be, never left random."""

import concurrent.futures
import weakref

import numpy as np

from keras_elmo.bilm.bilm import BiLM

# BiLMs of this process that a source runs: `clone_model` finds the weights of the original here.
_alive: weakref.WeakSet[BiLM] = weakref.WeakSet()


def note_alive(bilm: BiLM) -> None:
    """Lets weights that are awaited be found in this biLM, as long as it lives."""
    _alive.add(bilm)


class AwaitedWeights:
    """The weights that a biLM, made of a config only, must get before it runs.

    They are NaN until somebody sets them: whoever loads a file, or `find`.

    Args:
        bilm: without weights of its own.
        sha256: what its `fingerprint` will be.
        place: where `BiLM.load` finds it, or None where there is no place.
    """

    def __init__(self, bilm: BiLM, sha256: str, place: str | list[str] | None):
        self.bilm, self.sha256, self.place = bilm, sha256, place
        arrays = bilm.arrays()
        bilm.set_arrays({name: np.full_like(array, np.nan) for name, array in arrays.items()})

    def are_missing(self) -> bool:
        """Whether nobody has set the weights since."""
        return _lacks_weights(self.bilm)

    def copy_from_living(self) -> bool:
        """Takes them from a biLM of this process; gives whether there is one."""
        for other in list(_alive):
            fits = other is not self.bilm and other.config == self.bilm.config
            if fits and not _lacks_weights(other) and other.fingerprint() == self.sha256:
                self.bilm.set_arrays(other.arrays())
                return True
        return False

    def find(self) -> None:
        """Takes them from the place if they are missing, also within a graph that is traced.

        Raises:
            FileNotFoundError: nothing is at the place.
            ValueError: there is no place, or it holds another biLM.
        """
        # A new thread is in no graph and in no scope of Keras that would catch the values.
        with concurrent.futures.ThreadPoolExecutor(1) as executor:
            executor.submit(self._load).result()

    def _load(self):
        if not self.are_missing():
            return
        if self.place is None:
            raise ValueError(
                "The biLM's weights must be known before the layer is called. Received: a layer "
                f"made from a config only, whose biLM (sha256 {self.sha256}) came from no file. "
                "Load the weights with `model.load_weights`, or give the BiLM as `source`."
            )
        try:
            found = BiLM.load(self.place)
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"The biLM (sha256 {self.sha256}) must be found at {self.place!r}, where the saved "
                f"config says that it came from. Received: {error} Put the files back, or build "
                "the model anew with `source` set to where they are now and call "
                "`model.load_weights`."
            ) from error
        check_sha256(self.place, self.sha256, found.fingerprint())
        self.bilm.set_arrays(found.arrays())


def check_sha256(place: str | list[str] | None, expected: str, received: str) -> None:
    """Raises where the frozen biLM of a place is not that of a saved model."""
    if received != expected:
        raise ValueError(
            f"The frozen biLM at {place!r} must have sha256 {expected}, as in the saved model. "
            f"Received: sha256 {received}. Put the original files back: with another biLM the "
            "trained layers above it give wrong results."
        )


def _lacks_weights(bilm):
    return bool(np.isnan(bilm.weights[0].numpy()).any())
