"""The mixes of an `ELMoEmbedding`."""

from keras_elmo.layers.scalar_mix import ScalarMix

LAYER_WEIGHTS = ("initial_scalars", "fixed_weights", "fixed_scalars")


def make_mixes(source, number, **arguments):
    """Makes the built `ScalarMix` layers over a source's layers.

    Args:
        source: source, whose own mix is what arguments that are None start from: of a TF-Hub
            module `scalars` and `gamma`; others have none, and start from 0 and 1.
        number: int, how many.
        **arguments: of ScalarMix.

    Returns:
        list of ScalarMix, "mix_0" ...
    """
    if all(arguments[name] is None for name in LAYER_WEIGHTS) and any(source.scalars or ()):
        arguments["initial_scalars"] = source.scalars
    if arguments["initial_gamma"] is None:
        arguments["initial_gamma"] = 1.0 if source.gamma is None else source.gamma
    mixes = [ScalarMix(**arguments, name=f"mix_{index}") for index in range(number)]
    for mix in mixes:
        mix.build((None, source.num_layers, None, source.output_dim))
    return mixes
