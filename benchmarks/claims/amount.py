"""How much training data each kind of model needs, beside what scikit-learn needs."""

import contextlib

import keras

import keras_elmo
from claims.baselines import tags_by_hand_features, tf_idf
from claims.data import TEXTS, TITLES
from claims.taggers import fit_tagger

MOST_BYTES = 8 << 30
SOLVED = {  # settings of `TextClassifier`
    "`TextClassifier(logistic=True, ngrams=True)`": {"logistic": True, "ngrams": True},
    "`TextClassifier(logistic=True)`": {"logistic": True},
}
TRAINED, TAGGER = "`TextClassifier()`", "`Tagger`'s network"
TAGGER_SHAPE = {"at_input": ("elmo",), "units": 128}  # of `Tagger`, which takes longer to start
WORDS, FEATURES = "TF-IDF, no biLM", "hand features, no biLM"


def amount(study, key):
    """Scores by number of training examples: a table a measure, a row a number."""
    fit = _fit_texts if key in TEXTS else _fit_tokens
    tables = {}
    for number in study.sizes.amounts:
        task = study.task(key)
        everything = number is None or number >= len(task.train.inputs)
        name = f"all {len(task.train.inputs):,}" if everything else f"{number:,}"
        for column, scores in fit(study, task, None if everything else number):
            for measure, score in scores.items():
                rows = tables.setdefault(f"{TITLES[key]}, {measure}", {})
                rows.setdefault(name, {}).setdefault(column, []).append(score)
    return tables


def _fit_texts(study, task, number):
    """Yields column and scores, of every draw of training texts."""
    for seed in _draws(study, task, number):
        examples = task.train.take(task.train.draw(number, seed))
        # With all texts, what is solved is the same for every seed.
        if number is not None or seed == 0:
            for column, options in SOLVED.items():
                yield column, _classify(study, task, examples, seed, options, epochs=1)
        if seed in study.seeds:
            yield TRAINED, _classify(study, task, examples, seed, {}, _epochs(study, task, number))
        if number is not None or seed == 0:
            found = tf_idf().fit(*examples).predict(task.test.inputs)
            yield WORDS, task.scores(found.tolist())


def _fit_tokens(study, task, number):
    """Yields column and scores, of every draw of training sentences; of all, of one seed."""
    for seed in _draws(study, task, number)[: None if number else 1]:
        epochs = _epochs(study, task, number)
        labels, _ = fit_tagger(study, task.key, seed, number, epochs, TAGGER_SHAPE)
        yield TAGGER, task.scores(labels)
        examples = task.train.take(task.train.draw(number, seed))
        yield FEATURES, task.scores(tags_by_hand_features(examples, task.test))


def _draws(study, task, number):
    few_messages = task.key == "sms" and number is not None
    return range(study.sizes.sms_draws) if few_messages else study.seeds


def _epochs(study, task, number):
    if number is not None and number <= study.sizes.few:
        return study.sizes.few_epochs
    return study.sizes.all_text_epochs if task.key in TEXTS else study.sizes.all_tag_epochs


def _classify(study, task, examples, seed, options, epochs):
    keras.utils.set_random_seed(seed)
    model = keras_elmo.TextClassifier(study.bilm, **options)
    if options.get("logistic"):  # no steps, so that graphs would take longer than they save
        model.compile(loss="binary_crossentropy", metrics=["accuracy"], run_eagerly=True)
    with _cached(study, task, model):
        model.fit(*examples, epochs=epochs, verbose=0)
        found = model.predict_labels(task.test.inputs, verbose=0)
    return task.scores(found.tolist())


@contextlib.contextmanager
def _cached(study, task, model):
    """The biLM has run once for each example of the task, for all models."""
    place = study.scratch / task.key
    cache = keras_elmo.FeatureCache(model, place, dtype="float16", most_bytes=MOST_BYTES)
    with cache.in_use():
        cache.add(task.train.inputs)
        cache.add(task.test.inputs)
        yield
