"""Which part of a pipeline limits it, why that is known, and what would help."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.insight.figures import Figures
from penstock.optimize.plan import Where

# A pipeline that is fast enough lets its consumer wait now and then, when both are about as fast, or for chance.
_SELDOM = 0.1
_OFTEN = 0.8


@dataclass(frozen=True)
class Verdict:
    """What `Profile` says of it."""

    bottleneck: str
    evidence: str
    advice: str


def percent(share: float) -> str:
    """A share of 1, in words."""
    return f"{100 * share:.0f} %" if share >= 0.01 or share == 0 else "<1 %"


def speed(f: Figures) -> float:
    """How many times as many batches the pipeline could make, judged by its busiest part."""
    own = (f.source + f.schedule + f.handing_out + f.waits.get("python", 0.0)) / f.seconds
    return 1 / max(own, *f.busy.values(), 1e-6)


def judge(f: Figures, processors: float, decodes_mixed: bool) -> Verdict:
    """Names the bottleneck. ``processors``: how many the process may use."""
    if not f.batches:
        return Verdict("none", "No batch was taken.", "Take batches inside of the block, or give batches=50.")
    waits = {what: f.waits.get(what, 0.0) for what in ("read", "cpu", "gpu")}
    waited = sum(waits.values())
    python = f.waits.get("python", 0.0) + f.schedule + f.handing_out
    if waited < _SELDOM * f.seconds or waited < f.source:
        return max(
            (f.consumer, 0, _consumer(f, waited)), (f.source, 1, _source(f)), (python, 2, _python(f, python))
        )[2]  # fmt: skip
    # A batch may lie at a stage whose threads are idle, because they are only just being woken.
    busy = {"read": f.busy.get("io", 0.0), "cpu": f.busy["cpu"], "gpu": f.busy.get("gpu", 0.0)}
    what = max(waits, key=lambda key: (waits[key] * busy[key], waits[key]))
    text = (
        f"The consumer waited {percent(waited / f.seconds)} of the time for batches, "
        f"{percent(waits[what] / waited)} of that "
    )
    if what == "read":
        return _read(f, text)
    if what == "gpu":
        return _gpu(f, text, decodes_mixed)
    return _cpu(f, text, processors, decodes_mixed)


def _consumer(f: Figures, waited: float) -> Verdict:
    return Verdict(
        "consumer",
        f"It waited {percent(waited / f.seconds)} of the time for batches, and spent {percent(f.consumer / f.seconds)} "
        f"on its own: the pipeline is about {speed(f):.1f} times as fast as it is used.",
        "Nothing in the pipeline would. Fewer num_threads may leave more to others.",
    )


def _source(f: Figures) -> Verdict:
    return Verdict(
        "source",
        f"External sources (and iter_setup) took {percent(f.source / f.seconds)} of the time, on the thread that takes "
        "batches.",
        "A reader in place of fn.external_source, whose files are read by threads of the pipeline's own; or less work "
        "in the source, such as bytes that fn.decoders.image decodes.",
    )


def _python(f: Figures, python: float) -> Verdict:
    return Verdict(
        "python",
        f"{percent(python / f.seconds)} of the time went into scheduling and handing out batches that were there, "
        f"{1000 * python / f.batches:.1f} ms for each: other threads keep the interpreter busy, or the processors.",
        "Larger batches; less Python on other threads of this process (processes in place of threads).",
    )


def _read(f: Figures, text: str) -> Verdict:
    busy = f.busy.get("io", 0.0)
    text += f"while they were being read; the {f.io_threads} threads for that were at work {percent(busy)} of the time."
    if busy >= _OFTEN:
        advice = "A faster disk, files in its cache, or more num_threads: as many files are read at a time."
    else:
        advice = (
            "A bigger prefetch_queue_depth, of the pipeline or the reader: some files take long, and the "
            "threads that read have too few batches ahead to go on with others."
        )
    return Verdict("read", text, advice)


def _cpu(f: Figures, text: str, processors: float, decodes_mixed: bool) -> Verdict:
    stages = {stage: f.stages.get(stage, 0.0) for stage in ("decode", "augment")}
    stage = max(stages, key=lambda key: stages[key])
    total = max(sum(stages.values()), 1e-9)
    most = max((w for w in f.work if w.where is not Where.IO and stage in w.stages), key=lambda w: w.seconds)
    text += (
        f"while they were with the {f.threads} worker threads, which were at work {percent(f.busy['cpu'])} of the "
        f"time; {'decoding' if stage == 'decode' else 'augmentation'} took {percent(stages[stage] / total)} of that"
        f", most of it in {most.name}."
    )
    if f.busy["cpu"] < _OFTEN:
        return Verdict(
            stage, text, "Larger batches, or a bigger prefetch_queue_depth: threads lacked samples to work on."
        )
    advice = []
    if processors >= f.threads + 1:
        advice.append(f"More num_threads: this process may use {processors:g} processors.")
    if stage == "decode" and not decodes_mixed:
        advice.append('A GPU: device="mixed" of the decoder gives it a part of the work.')
    if stage == "decode" and (share := _share_of_cpu(f)):
        advice.append(f"The CPU decoded {percent(share)} of the files: Pipeline.explain() says what is left to it.")
    if stage == "augment":
        advice.append("A GPU: .gpu() before the augmentations moves them there.")
    advice.append("Smaller pictures on the disk." if stage == "decode" else f"Less work for {most.name}.")
    return Verdict(stage, text, " ".join(advice))


def _share_of_cpu(f: Figures) -> float:
    """In the files of decoders with ``device="mixed"``."""
    files = [decoded.files for decoded in f.decoded.values()]
    return sum(each["cpu"] for each in files) / max(sum(sum(each.values()) for each in files), 1)


def _gpu(f: Figures, text: str, decodes_mixed: bool) -> Verdict:
    text += f"while the GPU was at them; it had work {percent(f.busy.get('gpu', 0.0))} of the time."
    if decodes_mixed and f.busy["cpu"] < _OFTEN:
        advice = (
            "A lower hw_decoder_load of the decoder (unless it is given, kernels of our own decode all JPEG files): "
            f"the processors' threads were at work {percent(f.busy['cpu'])} of the time, and can decode more."
        )
    else:
        advice = "Fewer or smaller pictures, or augmentations on the CPU. Training on the same GPU slows it down, too."
    return Verdict("gpu", text, advice)
