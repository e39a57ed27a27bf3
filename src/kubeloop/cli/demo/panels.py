"""The parts of the dashboard, each drawn from a picture.

Promises: pure; a panel fits the lines and columns it is given, and says with colours only
what it also says with words or signs.
Elsewhere: where they are put (`dashboard`), what they show (`picture`).
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from .narrator import Line, Mark
from .picture import Candidate, Mirror, Picture, Work

__all__ = ["caches", "cluster", "controller", "events", "footer", "header", "sparkline", "story"]

_STYLES = {
    Mark.SCENE: ("▌", "bold"),
    Mark.DID: ("→", "cyan"),
    Mark.BROKE: ("✗", "bold red"),
    Mark.SAW: ("✓", "green"),
    Mark.WHY: (" ", "italic bright_black"),
    Mark.LOG: ("≡", "yellow"),
}
_PHASES = {"Running": ("●", "green"), "Pending": ("◌", "yellow"), "Failed": ("✗", "red")}
_BARS = " ▁▂▃▄▅▆▇█"


def header(picture: Picture, width: int) -> RenderableType:
    """The name, how far the story is, and where else to look."""
    done = "over" if picture.is_over else f"scene {picture.scene} of {picture.scenes}"
    left, right = " kubeloop demo", f"{done} · {picture.elapsed:.0f} s "
    bar = Text(left + right.rjust(width - len(left)), style="bold white on blue", no_wrap=True)
    where = Text(no_wrap=True, overflow="ellipsis")
    where.append(" API server ", "bright_black").append(picture.server)
    where.append("   inspector ", "bright_black").append(picture.inspector, "underline")
    return Group(bar, where)


def footer(picture: Picture) -> RenderableType:
    said = " Ctrl-C ends it · kubeloop demo --show-code prints the controller"
    if picture.is_over:
        said = " The story is over and everything still runs: look around, Ctrl-C ends it"
    return Text(said, style="bright_black", no_wrap=True, overflow="ellipsis")


def story(lines: Sequence[Line], *, width: int, height: int) -> Panel:
    """The last lines that fit."""
    rows = [row for line in lines for row in _story_rows(line, width - 4)]
    title = next((line.text for line in reversed(lines) if line.mark is Mark.SCENE), "")
    return _panel(Group(*rows[-(height - 2) :]), f"What happens: {title}", height)


def _story_rows(line: Line, width: int) -> list[Text]:
    sign, style = _STYLES[line.mark]
    if line.mark is Mark.SCENE:
        return [Text(), Text(f"{sign} {line.text}", style=style, no_wrap=True)]
    if line.mark is Mark.LOG:  # often long, and often the same
        return [Text(f"{sign} {line.text}", style=style, no_wrap=True, overflow="ellipsis")]
    first, *rest = textwrap.wrap(line.text, max(width - 2, 10)) or [""]
    return [
        Text(f"{sign} {first}", style=style),
        *(Text(f"  {each}", style=style) for each in rest),
    ]


def caches(mirrors: Sequence[Mirror], *, height: int) -> Panel:
    """Each mirror: whether it hears of changes, and whether it has what the server has."""
    table = Table(box=None, expand=True, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("", no_wrap=True, ratio=1)
    for name in ("here", "server", "kB", "lists", "watch"):
        table.add_column(Text(name, "bright_black"), justify="right", no_wrap=True)
    for mirror in mirrors:
        table.add_row(*_mirror_cells(mirror))
    return _panel(table, "Caches", height)


def _mirror_cells(mirror: Mirror) -> tuple[Text, ...]:
    is_same = mirror.objects == mirror.on_server
    state = Text("live", "green") if mirror.is_live else Text("✗ cut", "bold red")
    return (
        Text(f"{mirror.kind}s", overflow="ellipsis"),
        Text(str(mirror.objects), "" if is_same else "bold red"),
        Text(str(mirror.on_server)),
        Text(f"{mirror.bytes / 1000:.0f}"),
        Text(str(mirror.lists)),
        state,
    )


def cluster(picture: Picture, *, width: int, height: int) -> Panel:
    """The nodes, with a sign for each of their pods."""
    rows = [_node_row(name, phases, width - 4) for name, phases in picture.nodes]
    total = sum(len(phases) for _, phases in picture.nodes)
    content: RenderableType = Group(*rows) if rows else Text("no pods yet", "bright_black")
    return _panel(content, f"Cluster: {total} pods", height)


def _node_row(name: str, phases: Sequence[str], width: int) -> Text:
    row = Text(f"{name:<8}", no_wrap=True)
    room = width - 8
    for phase in phases[:room]:
        row.append(*_PHASES.get(phase, ("○", "bright_black")))
    return row


def controller(work: Work, candidates: Sequence[Candidate], *, width: int, height: int) -> Panel:
    """Who leads, what waits, and how fast it goes."""
    plot = max(min(width - 52, 40), 12)
    waits = f"{work.depth} keys, {work.in_work} in work, {work.retries} to retry"
    pace = f"{work.rate:.0f}/s, {work.latency * 1000:.0f} ms each"
    rows = [
        _leaders(candidates),
        _row("queue", work.depths[-plot:], waits),
        _row(
            "reconciles", work.rates[-plot:], f"{pace}, {work.failed} of {work.reconciles} failed"
        ),
    ]
    return _panel(Group(*rows), "Controller", height)


def _leaders(candidates: Sequence[Candidate]) -> Text:
    row = Text(f"{'leader':<11}", no_wrap=True)
    for each in candidates:
        if each.is_leader:
            row.append(f"★ {each.name} leads   ", "bold green")
        elif each.is_running:
            row.append(f"☆ {each.name} waits   ", "bright_black")
        else:
            row.append(f"✗ {each.name} is dead   ", "bold red")
    return row


def _row(name: str, values: Sequence[int], said: str) -> Text:
    row = Text(f"{name:<11}", no_wrap=True, overflow="ellipsis")
    return row.append(sparkline(values), "cyan").append(f"  {said}")


def sparkline(values: Sequence[int]) -> str:
    """A plot of one line; what is not zero can be seen."""
    most = max(values, default=0) or 1
    return "".join(_BARS[-(-value * (len(_BARS) - 1) // most)] for value in values)


def events(picture: Picture, *, height: int) -> Panel:
    """The last events of the cluster, newest below."""
    rows = [
        Text(f"{each.about}  ", no_wrap=True, overflow="ellipsis")
        .append(f"{each.reason}  ", "cyan")
        .append(each.message, "bright_black")
        for each in picture.events[-(height - 2) :]
    ]
    return _panel(Group(*rows), "Events", height)


def _panel(content: RenderableType, title: str, height: int) -> Panel:
    return Panel(
        content,
        title=f"[bold]{title}[/]",
        title_align="left",
        height=height,
        box=box.ROUNDED,
        border_style="bright_black",
    )
