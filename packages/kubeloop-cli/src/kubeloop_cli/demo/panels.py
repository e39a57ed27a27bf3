"""The panels of the dashboard, each drawn from a snapshot.

Guarantees: no I/O; a panel fits the given lines and columns; colors only repeat what words
or symbols show.
See also: `dashboard` (the layout), `snapshot` (the values).
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from .log import EntryType, LogEntry, plural
from .snapshot import CacheSnapshot, Candidate, ControllerSnapshot, Snapshot

__all__ = ["caches", "cluster", "controller", "events", "footer", "header", "log", "sparkline"]

_STYLES = {
    EntryType.SCENE: ("▌", "bold"),
    EntryType.ACTION: ("→", "cyan"),
    EntryType.FAULT: ("✗", "bold red"),
    EntryType.RESULT: ("✓", "green"),
    EntryType.REASON: (" ", "italic bright_black"),
    EntryType.WARNING: ("≡", "yellow"),
}
_PHASES = {"Running": ("●", "green"), "Pending": ("◌", "yellow"), "Failed": ("✗", "red")}
_BARS = " ▁▂▃▄▅▆▇█"
_FRAME = 4  # columns of the border and its padding
_LABEL = 11  # columns of the first word of a row
_MAX_PLOT = 40


def header(snapshot: Snapshot, width: int) -> RenderableType:
    """The title bar with the progress, and the URLs of server and inspector."""
    progress = "done" if snapshot.is_over else f"scene {snapshot.scene} of {snapshot.scenes}"
    left, right = " kubeloop demo", f"{progress} · {snapshot.elapsed:.0f} s "
    bar = Text(left + right.rjust(width - len(left)), style="bold white on blue", no_wrap=True)
    urls = Text(no_wrap=True, overflow="ellipsis")
    urls.append(" API server ", "bright_black").append(snapshot.server)
    urls.append("   inspector ", "bright_black").append(snapshot.inspector, "underline")
    return Group(bar, urls)


def footer(snapshot: Snapshot) -> RenderableType:
    text = " Press Ctrl-C to stop · kubeloop demo --show-code prints the controller"
    if snapshot.is_over:
        text = " The demo is done, and everything is still running. Press Ctrl-C to stop"
    return Text(text, style="bright_black", no_wrap=True, overflow="ellipsis")


def log(entries: Sequence[LogEntry], *, width: int, height: int) -> Panel:
    """The last entries that fit."""
    rows = [row for entry in entries for row in _log_rows(entry, width - 4)]
    titles = (entry.text for entry in reversed(entries) if entry.type is EntryType.SCENE)
    return _panel(Group(*rows[-(height - 2) :]), f"Log: {next(titles, '')}", height)


def _log_rows(entry: LogEntry, width: int) -> list[Text]:
    symbol, style = _STYLES[entry.type]
    if entry.type is EntryType.SCENE:
        return [Text(), Text(f"{symbol} {entry.text}", style=style, no_wrap=True)]
    if entry.type is EntryType.WARNING:  # often long and repeated: one line is enough
        return [Text(f"{symbol} {entry.text}", style=style, no_wrap=True, overflow="ellipsis")]
    first, *rest = textwrap.wrap(entry.text, max(width - 2, 10)) or [""]
    return [
        Text(f"{symbol} {first}", style=style),
        *(Text(f"  {each}", style=style) for each in rest),
    ]


def caches(caches: Sequence[CacheSnapshot], *, height: int) -> Panel:
    """Each cache: whether its watch is open, and whether it equals the server."""
    table = Table(box=None, expand=True, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("", no_wrap=True, ratio=1)
    for name in ("cached", "server", "kB", "lists", "watch"):
        table.add_column(Text(name, "bright_black"), justify="right", no_wrap=True)
    for cache in caches:
        table.add_row(*_cache_cells(cache))
    return _panel(table, "Caches", height)


def _cache_cells(cache: CacheSnapshot) -> tuple[Text, ...]:
    is_same = cache.objects == cache.on_server
    state = Text("live", "green") if cache.is_live else Text("✗ down", "bold red")
    return (
        Text(f"{cache.kind}s", overflow="ellipsis"),
        Text(str(cache.objects), "" if is_same else "bold red"),
        Text(str(cache.on_server)),
        Text(f"{cache.bytes / 1000:.0f}"),
        Text(str(cache.lists)),
        state,
    )


def cluster(snapshot: Snapshot, *, width: int, height: int) -> Panel:
    """The nodes, with a symbol for each pod."""
    rows = [_node_row(name, phases, width - 4) for name, phases in snapshot.nodes]
    total = sum(len(phases) for _, phases in snapshot.nodes)
    content: RenderableType = Group(*rows) if rows else Text("no pods yet", "bright_black")
    return _panel(content, f"Cluster: {plural(total, 'pod')}", height)


def _node_row(name: str, phases: Sequence[str], width: int) -> Text:
    row = Text(f"{name:<8}", no_wrap=True)
    for phase in phases[: width - 8]:
        row.append(*_PHASES.get(phase, ("○", "bright_black")))
    return row


def controller(
    stats: ControllerSnapshot, candidates: Sequence[Candidate], *, width: int, height: int
) -> Panel:
    """The leader, the queue, and the rate of reconciles."""
    queue = f"{plural(stats.depth, 'key')}, {stats.processing} processing, {stats.delayed} delayed"
    failures = f"{stats.failed} of {stats.reconciles} failed"
    rate = f"{stats.rate:.0f}/s, {stats.latency * 1000:.0f} ms each, {failures}"
    # The words are complete, and the plots take what is left.
    left = width - _FRAME - _LABEL - 2 - max(len(queue), len(rate))
    plot = max(min(left, _MAX_PLOT), 0)
    rows = [
        _leaders(candidates),
        _row("queue", stats.depths[len(stats.depths) - plot :], queue),
        _row("reconciles", stats.rates[len(stats.rates) - plot :], rate),
    ]
    return _panel(Group(*rows), "Controller", height)


def _leaders(candidates: Sequence[Candidate]) -> Text:
    row = Text(f"{'leader':<{_LABEL}}", no_wrap=True)
    for each in candidates:
        if each.is_leader:
            row.append(f"★ {each.name} leads   ", "bold green")
        elif each.is_running:
            row.append(f"☆ {each.name} waits   ", "bright_black")
        else:
            row.append(f"✗ {each.name} is down   ", "bold red")
    return row


def _row(name: str, values: Sequence[int], text: str) -> Text:
    row = Text(f"{name:<{_LABEL}}", no_wrap=True, overflow="ellipsis")
    return row.append(f"{sparkline(values)}  " if values else "", "cyan").append(text)


def sparkline(values: Sequence[int]) -> str:
    """A plot in one line; every value above zero is visible."""
    most = max(values, default=0) or 1
    return "".join(_BARS[-(-value * (len(_BARS) - 1) // most)] for value in values)


def events(snapshot: Snapshot, *, height: int) -> Panel:
    """The last events of the cluster, the newest at the bottom."""
    rows = [
        Text(f"{each.involved}  ", no_wrap=True, overflow="ellipsis")
        .append(f"{each.reason}  ", "cyan")
        .append(each.message, "bright_black")
        for each in snapshot.events[-(height - 2) :]
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
