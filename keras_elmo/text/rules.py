"""What the rules of text are called and numbered; all that needs no TensorFlow."""

TOKENIZERS = ("space", "words")

# The published numbering of characters: 0 to 255 are the bytes of UTF-8.
BOS_ID = 256
EOS_ID = 257
BOW_ID = 258
EOW_ID = 259
PAD_ID = 260
NUM_CHARACTERS = 261
MAX_CHARACTERS_PER_TOKEN = 50
