"""What `keras_elmo-train bilm` shows: the plan, the progress, a picture, the end."""

import sys

from tqdm import tqdm

from keras_elmo.cli.plots import PERPLEXITY, picture_path
from keras_elmo.cli.signals import interruptible
from keras_elmo.pretraining.training_log import read_log

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]


def show_plan(prepared):
    """Prints what will be done and what it costs, as a few steps show, which are taken back."""
    run, corpus, notes, remarks = prepared
    seconds = None if run.finished or run.out_of_patience else run.measure()
    if not run.writes:
        return
    for remark in remarks:
        print(f"warning: {remark}", file=sys.stderr)
    for note in notes:
        print(note)
    _print_work(run, corpus)
    if seconds is not None:
        _print_cost(run, seconds)
    sys.stdout.flush()


def _print_work(run, corpus):
    counts, trainer = corpus.counts, run.trainer
    model, steps, step_size = trainer.model, run.options.steps, trainer.positions_per_step
    replicas = trainer.strategy.num_replicas_in_sync
    devices = "" if replicas == 1 else f" on {replicas} devices"
    print(
        f"text: {len(corpus.paths)} file(s), {counts.sentences:,} sentences, {counts.tokens:,} "
        f"tokens, {len(counts.words):,} distinct words\n"
        f"vocabulary: {len(corpus.vocabulary):,}, unknown {corpus.unknown_share:.2%} of tokens\n"
        f"model: biLM {model.bilm.count_params():,} parameters, softmax ({model.softmax.kind}) "
        f"{model.softmax.count_params():,}\n"
        f"steps: {steps:,} of {step_size:,} positions{devices}, "
        f"{steps * step_size / counts.positions:.2f} epochs of {counts.positions:,} positions, "
        f"{counts.positions / step_size:,.1f} steps each"
    )


def _print_cost(run, seconds):
    left = run.options.steps - run.trainer.done
    if resource is not None:
        print(f"memory: {_peak_gigabytes():.1f} GB, weights, gradients and optimiser included")
    print(
        f"time: about {tqdm.format_interval(left * seconds)} for {left:,} steps at "
        f"{run.trainer.positions_per_step / seconds:,.0f} tokens/s, timed over 3 steps, "
        "evaluations not counted"
    )


def _peak_gigabytes():
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024**3 if sys.platform == "darwin" else 1024**2)


def show_training(run, picture=None):
    """Shows the run's progress, also by a PerplexityPicture; returns the exit status."""
    if picture is not None:
        picture.draw()
    if run.finished:
        _say(run, f"{run.output}: all {run.trainer.done:,} steps are done already")
        return 0
    if run.out_of_patience:
        _say(
            run,
            f"{run.output}: ended after step {run.trainer.done:,} already, no better perplexity "
            f"in {run.without_gain} evaluations; a larger --patience goes on",
        )
        return 0
    with interruptible(run.ask_to_end) as signals:
        _show_reports(run, picture)
    if picture is not None:
        picture.draw()
    return _end(run, signals)


def _show_reports(run, picture):
    name = "sampled training loss" if run.trainer.model.softmax.kind == "sampled" else "loss"
    with tqdm(
        total=run.options.steps, initial=run.trainer.done, unit="step", dynamic_ncols=True,
        disable=not run.writes,
    ) as bar:  # fmt: skip
        for report in run.reports():
            bar.set_postfix_str(_postfix(report.row, name), refresh=False)
            bar.update(report.step - bar.n)
            if report.evaluation is not None:
                bar.write(_evaluation_line(report))
            if picture is not None:
                picture.update(report)


def _say(run, line):
    if run.writes:
        print(line, flush=True)


def _end(run, signals):
    done = f"step {run.trainer.done:,} of {run.options.steps:,}"
    if signals:
        print(
            f"keras_elmo-train bilm: interrupted after {done}; saved in {run.output}, "
            "go on with --resume",
            file=sys.stderr,
        )
        return 128 + signals[0]
    if run.interrupted:
        _say(run, f"ended after {done}: another machine was interrupted; go on with --resume")
        return 130
    if not run.finished:
        _say(run, f"ended after {done}: no better perplexity in {run.without_gain} evaluations")
    _say(run, f"written to {run.output}")
    return 0


def _postfix(row, name):
    return (
        f"epoch {row['epoch']:.2f}, rate {row['learning_rate']:.1e}, {name} "
        f"{row['training_loss_forward']:.3f} + {row['training_loss_backward']:.3f}, "
        f"{row['tokens_per_second']:,} tokens/s, waiting for text {row['input_share']:.1%}"
    )


def _evaluation_line(report):
    found = report.evaluation
    return (
        f"step {report.step:,}: held-out perplexity forward {found.forward:.2f}, backward "
        f"{found.backward:.2f}, combined {found.combined:.2f}{', the best so far' * report.best} "
        f"({found.sentences:,} sentences, {found.tokens:,} targets, unknown "
        f"{found.unknown_share:.2%})"
    )


class PerplexityPicture:
    """Redraws the perplexity of a pretraining, from its log, while it runs."""

    def __init__(self, args, run):
        self.path = picture_path(args, PERPLEXITY)
        self.run = run
        self._begin = run.trainer.done
        self._drawn = None
        self._has_failed = False

    def draw(self):
        """Draws the log up to the step that is done; not twice, and nothing where it is empty.

        Where that fails, a line on stderr says so, once: the training goes on.
        """
        from keras_elmo import plots

        trainer = self.run.trainer
        if self._drawn == trainer.done:
            return
        rows = [row for row in read_log(self.run.log_path) if row["step"] <= trainer.done]
        if not rows:
            return
        self._drawn = trainer.done
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            plots.save(plots.perplexity(rows, trainer.positions_per_step), self.path)
        except OSError as error:
            if not self._has_failed:
                print(f"warning: --plots: {self.path} cannot be written: {error}", file=sys.stderr)
            self._has_failed = True

    def update(self, report):
        """Draws after an evaluation, and where none is made as often as one would be."""
        is_due = report.step - (self._drawn or self._begin) >= self.run.options.evaluate_every
        if report.evaluation is not None or is_due:
            self.draw()
