"""What `keras_elmo-train bilm` shows: the plan, the progress, the end."""

import sys

from tqdm import tqdm

from keras_elmo.cli.signals import interruptible

try:
    import resource
except ImportError:  # not on Windows
    resource = None


def print_plan(run, corpus):
    """Prints what will be done and what it costs, as a few steps show, which are taken back."""
    seconds = None if run.finished or run.out_of_patience else run.measure()
    if not run.writes:
        return
    counts, trainer = corpus.counts, run.trainer
    model, steps, step_size = trainer.model, trainer.options.steps, trainer.positions_per_step
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
    if seconds is not None:
        left = (steps - trainer.done) * seconds
        if resource is not None:
            print(f"memory: {_peak_gigabytes():.1f} GB, weights, gradients and optimiser included")
        print(
            f"time: about {tqdm.format_interval(left)} for {steps - trainer.done:,} steps at "
            f"{step_size / seconds:,.0f} tokens/s, timed over 3 steps, evaluations not counted"
        )
    sys.stdout.flush()


def _peak_gigabytes():
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024**3 if sys.platform == "darwin" else 1024**2)


def show_training(run, picture=None):
    """Shows the run's progress; returns the exit status.

    Args:
        run: Run.
        picture: PerplexityPicture that is drawn now, as the run goes on, and at its end; or None.
    """
    if picture is not None:
        picture.draw()
    if run.finished:
        _say(run, f"{run.options.output}: all {run.trainer.done:,} steps are done already")
        return 0
    if run.out_of_patience:
        _say(
            run,
            f"{run.options.output}: ended after step {run.trainer.done:,} already, no better "
            f"perplexity in {run.without_gain} evaluations; a larger --patience goes on",
        )
        return 0
    name = "sampled training loss" if run.trainer.model.softmax.kind == "sampled" else "loss"
    steps = run.trainer.options.steps
    with (
        interruptible(run) as signals,
        tqdm(
            total=steps, initial=run.trainer.done, unit="step", dynamic_ncols=True,
            disable=not run.writes,
        ) as bar,
    ):  # fmt: skip
        for report in run.reports():
            bar.set_postfix_str(_postfix(report.row, name), refresh=False)
            bar.update(report.step - bar.n)
            if report.evaluation is not None:
                bar.write(_evaluation_line(report))
            if picture is not None:
                picture.update(report)
    if picture is not None:
        picture.draw()
    return _end(run, signals)


def _say(run, line):
    if run.writes:
        print(line, flush=True)


def _end(run, signals):
    done = f"step {run.trainer.done:,} of {run.trainer.options.steps:,}"
    if signals:
        print(
            f"keras_elmo-train bilm: interrupted after {done}; saved in {run.options.output}, "
            "go on with --resume",
            file=sys.stderr,
        )
        return 128 + signals[0]
    if run.interrupted:
        _say(run, f"ended after {done}: another machine was interrupted; go on with --resume")
        return 130
    if not run.finished:
        _say(run, f"ended after {done}: no better perplexity in {run.without_gain} evaluations")
    _say(run, f"written to {run.options.output}")
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
