"""What a failing simulation prints.

Guarantees: plain text; the command in it replays exactly the run that is described.
See also: `trace_page` (the same as a page).
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator, Mapping

from .explorer import Exploration, FailedRun
from .scenarios import KINDS, Scenario, TimelineEntry

__all__ = [
    "describe",
    "describe_crash_points",
    "describe_faults",
    "format_timeline",
    "replay_command",
    "summarize",
]

_LINES = 60  # of the timeline
_CLUSTER = "cluster"
_REPLAY = ("python", "-m", "kubeloop_testing.simulation")


def describe(name: str, replay: str, exploration: Exploration) -> str:
    """The report of an exploration that has found a failure."""
    failed = exploration.failure
    assert failed is not None, "there is something to describe"
    return "\n".join(
        [
            f"{name}: a run failed after {exploration.runs} were tried",
            "",
            f"{failed.oracle}: {failed.message}",
            *failed.hints,
            "",
            *_faults(failed),
            "",
            "Timeline, in virtual seconds:",
            *format_timeline(failed.result.timeline),
            "",
            "Replay it, under a debugger if you like:",
            f"  {replay}",
            "",
            summarize(exploration),
        ]
    )


def replay_command(
    target: str, arguments: Mapping[str, object], scenario: Scenario, *, node: str = ""
) -> str:
    """The command that repeats a run of the test `target`, or of pytest's `node`."""
    if not arguments:
        return shlex.join([*_REPLAY, target, "--scenario", str(scenario)])
    text = repr(dict(arguments))
    if node and not _is_literal(text):  # only pytest can create them
        return shlex.join(["pytest", node, "--kube-scenario", str(scenario)])
    return shlex.join([*_REPLAY, target, "--scenario", str(scenario), "--arguments", text])


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True


def summarize(exploration: Exploration) -> str:
    """One line about what was tried."""
    return (
        f"{exploration.runs} runs of {exploration.virtual / 60:.0f} virtual minutes in"
        f" {exploration.cpu:.1f} s of CPU; {exploration.coverage}"
    )


def describe_crash_points(exploration: Exploration) -> Iterator[tuple[str, str]]:
    """Each write of the undisturbed run, and which crashes were tried around it."""
    for write, before, after in exploration.crash_points:
        tried = [name for name, was in (("before", before), ("after", after)) if was]
        yield (
            f"write {write.number} of {write.process} ({write.text})",
            f"crashed {' and '.join(tried)}" if tried else "no crash tried",
        )


def _faults(failed: FailedRun) -> Iterator[str]:
    if not failed.faults:
        what = "Without any fault" if not failed.faults_before else "Without any fault, by timing"
        yield f"{what} (seed {failed.scenario.seed})."
        return
    before = failed.faults_before
    shrunk = f", shrunk from {before}" if before > len(failed.faults) else ""
    yield f"What happened (seed {failed.scenario.seed}{shrunk}):"
    for number, (what, rule) in enumerate(describe_faults(failed), 1):
        yield f"  {number}. {what}"
        yield f"     ({rule})"


def describe_faults(failed: FailedRun) -> Iterator[tuple[str, str]]:
    """What each fault did, and the rule that allows it."""
    texts = {(each.process, each.number): each.text for each in failed.result.writes}
    for fault in failed.faults:
        yield fault.describe(texts.get(fault.trigger, "")), KINDS[fault.kind].rule


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
