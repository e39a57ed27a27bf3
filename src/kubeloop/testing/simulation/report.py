"""What a failing simulation prints.

Guarantees: plain text; the command in it replays exactly the run that is described.
See also: `trace_page` (the same as a page).
"""

from __future__ import annotations

from collections.abc import Iterator

from .explorer import Exploration, FailedRun
from .scenarios import KINDS, TimelineEntry

__all__ = ["describe", "format_timeline", "summarize"]

_LINES = 60  # of the timeline
_CLUSTER = "cluster"


def describe(name: str, target: str, exploration: Exploration) -> str:
    """The report of an exploration that has found a failure."""
    failed = exploration.failure
    assert failed is not None, "there is something to describe"
    return "\n".join(
        [
            f"{name}: a run failed after {exploration.runs} were tried",
            "",
            f"{failed.oracle}: {failed.message}",
            "",
            *_faults(failed),
            "",
            "Timeline, in virtual seconds:",
            *format_timeline(failed.result.timeline),
            "",
            "Replay it, under a debugger if you like:",
            f"  python -m kubeloop.testing.simulation {target} --scenario '{failed.scenario}'",
            "",
            summarize(exploration),
        ]
    )


def summarize(exploration: Exploration) -> str:
    """One line about what was tried."""
    return (
        f"{exploration.runs} runs of {exploration.virtual / 60:.0f} virtual minutes in"
        f" {exploration.cpu:.1f} s of CPU; {exploration.coverage}"
    )


def _faults(failed: FailedRun) -> Iterator[str]:
    if not failed.faults:
        what = "Without any fault" if not failed.faults_before else "Without any fault, by timing"
        yield f"{what} (seed {failed.scenario.seed})."
        return
    before = failed.faults_before
    shrunk = f", shrunk from {before}" if before > len(failed.faults) else ""
    yield f"What happened (seed {failed.scenario.seed}{shrunk}):"
    texts = {(each.process, each.number): each.text for each in failed.result.writes}
    for number, fault in enumerate(failed.faults, 1):
        yield f"  {number}. {fault.describe(texts.get(fault.trigger, ''))}"
        yield f"     ({KINDS[fault.kind].rule})"


def format_timeline(entries: tuple[TimelineEntry, ...]) -> Iterator[str]:
    """The lines around the faults, without the controllers of the cluster."""
    shown = [each for each in entries if each.process != _CLUSTER]
    faults = [index for index, each in enumerate(shown) if each.kind == "fault"]
    start = max(0, (faults[0] if faults else len(shown) - _LINES) - 15)
    part = shown[start : start + _LINES]
    if start:
        yield f"  … {start} earlier lines"
    width = max((len(each.process) for each in part), default=0)
    for each in part:
        mark = "!" if each.kind in {"fault", "check"} else " "
        yield f"{mark} {each.at:9.3f}  {each.process:{width}}  {each.kind:9}  {each.text}"
    rest = len(shown) - start - len(part)
    if rest > 0:
        yield f"  … {rest} later lines (--kube-trace FILE writes them all as a page)"
