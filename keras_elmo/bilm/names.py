"""The name table of the published weight files: one line a tensor."""

import re

from keras_elmo.text.rules import NUM_CHARACTERS

CELL = "RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
# What the table below can hold for some biLM.
PATTERN = re.compile(
    r"char_embed|CNN/[Wb]_cnn_\d+|CNN_high_\d+/[Wb]_(carry|transform)|CNN_proj/[Wb]_proj|"
    r"RNN_\d+/RNN/MultiRNNCell/Cell\d+/LSTMCell/(W_0|B|W_P_0)"
)


def weight_shapes(config):
    """HDF5 key to `(shape, options that decide it)` of a weight file's tensors, in file order."""
    features = sum(count for _, count in config.filters)
    filters = "char_cnn.filters"
    table = {"char_embed": ((NUM_CHARACTERS, config.char_dim), "char_cnn.embedding.dim")}
    for k, (width, count) in enumerate(config.filters):
        decides = f"{filters}, char_cnn.embedding.dim"
        table[f"CNN/W_cnn_{k}"] = ((1, width, config.char_dim, count), decides)
        table[f"CNN/b_cnn_{k}"] = ((count,), filters)
    for k in range(config.n_highway):
        for gate in ("carry", "transform"):
            table[f"CNN_high_{k}/W_{gate}"] = ((features, features), filters)
            table[f"CNN_high_{k}/b_{gate}"] = ((features,), filters)
    projection = "lstm.projection_dim"
    table["CNN_proj/W_proj"] = ((features, config.projection_dim), f"{projection}, {filters}")
    table["CNN_proj/b_proj"] = ((config.projection_dim,), projection)
    gates = 4 * config.lstm_dim
    for direction in (0, 1):
        for layer in range(config.n_layers):
            cell = CELL.format(direction=direction, layer=layer)
            decides = f"{projection}, lstm.dim"
            table[f"{cell}/W_0"] = ((2 * config.projection_dim, gates), decides)
            table[f"{cell}/B"] = ((gates,), "lstm.dim")
            table[f"{cell}/W_P_0"] = ((config.lstm_dim, config.projection_dim), decides)
    return table


def named_variables(token_encoder, contextual_encoder):
    """HDF5 key to variable of these built layers, in the order of `weight_shapes`."""
    cnn = token_encoder.char_cnn
    table = {"char_embed": cnn.char_embed}
    for k, (kernel, bias) in enumerate(zip(cnn.kernels, cnn.biases, strict=True)):
        table[f"CNN/W_cnn_{k}"] = kernel
        table[f"CNN/b_cnn_{k}"] = bias
    for k, highway in enumerate(token_encoder.highways):
        for name in ("W_carry", "b_carry", "W_transform", "b_transform"):
            table[f"CNN_high_{k}/{name}"] = getattr(highway, name)
    table["CNN_proj/W_proj"] = token_encoder.W_proj
    table["CNN_proj/b_proj"] = token_encoder.b_proj
    stacks = (contextual_encoder.forward_stack, contextual_encoder.backward_stack)
    for direction, stack in enumerate(stacks):
        for layer, lstm in enumerate(stack.lstms):
            for name in ("W_0", "B", "W_P_0"):
                cell = CELL.format(direction=direction, layer=layer)
                table[f"{cell}/{name}"] = getattr(lstm, name)
    return table
