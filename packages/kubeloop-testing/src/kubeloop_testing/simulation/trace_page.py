"""The timeline of a failed run as one page of HTML, without other files.

Guarantees: every text of the run is escaped, and the page's content security policy allows no
other script, style or request than the page's own; the page works without a network, and shows
everything without JavaScript, which only filters.
See also: `report` (the same as plain text).
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Final

from .explorer import Exploration, FailedRun
from .report import describe_crash_points, describe_faults, summarize
from .scenarios import TimelineEntry

__all__ = ["render_page", "write_page"]

_KINDS: Final = ("fault", "check", "process", "write", "event", "reconcile", "log")
_LARGE: Final = ("fault", "check", "process")
_TEST: Final = "test"
_HIDDEN: Final = "cluster"  # the controllers of deployments, pods and so on
_WIDTH, _LEFT, _ROW = 1200, 130, 26  # of the overview, in units of its view box


def write_page(path: Path, name: str, exploration: Exploration, *, replay: str = "") -> None:
    """Write the page of the run that failed; `replay` is the command that repeats it.

    Raises: OSError when the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_page(name, exploration, replay=replay), encoding="utf-8")


def render_page(name: str, exploration: Exploration, *, replay: str = "") -> str:
    """The page of the run that failed."""
    failed = exploration.failure
    assert failed is not None, "there is something to show"
    entries = failed.result.timeline
    lanes = list(dict.fromkeys(_lane(each) for each in entries))
    style, script = _style(len(lanes)), _resource(__package__ or "", "trace_page.js")
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{_text(name)} · kubeloop simulation</title>",
            f"<style>{style}</style></head><body>",
            *_header(name, failed),
            '<main id="main" tabindex="-1">',
            *_summary(exploration, failed, replay),
            *_overview(entries, lanes),
            *_filters(entries, lanes),
            *_timeline(entries, lanes),
            "</main>",
            f"<script>{script}</script></body></html>",
            "",
        ]
    )


# --- parts of the page


def _header(name: str, failed: FailedRun) -> Iterator[str]:
    yield '<a class="skip" href="#timeline">Skip to the timeline</a>'
    yield f'<header><span class="brand">{_resource("kubeloop", "inspector/page/icon.svg")}'
    yield f"<span><b>{_text(name)}</b><small>simulated run</small></span></span>"
    yield f'<span id="badges"><span class="chip bad">{_text(failed.oracle)}</span></span></header>'


def _summary(exploration: Exploration, failed: FailedRun, replay: str) -> Iterator[str]:
    yield '<section class="panel failure"><header><h2>Why the run failed</h2>'
    yield f'<span class="chip bad">{_text(failed.oracle)}</span></header>'
    yield f"<p>{_text(failed.message)}</p></section>"
    yield '<div class="columns"><section class="panel faults"><header><h2>Faults</h2>'
    yield f"<small>seed {failed.scenario.seed}</small></header>"
    if failed.faults:
        yield "<ol>"
        for what, rule in describe_faults(failed):
            yield f"<li>{_text(what)}<small>Allowed: {_text(rule)}</small></li>"
        yield "</ol>"
    else:
        yield "<p>None: the run failed without any fault.</p>"
    if failed.faults_before > len(failed.faults):
        yield f"<small>Shrunk from {failed.faults_before} faults.</small>"
    yield '</section><section class="panel replay"><header><h2>Replay</h2></header>'
    yield f"<pre><code>{_text(replay or str(failed.scenario))}</code></pre>"
    yield f'<dl class="plain"><dt>Tried</dt><dd>{_text(summarize(exploration))}</dd></dl>'
    yield "</section></div>"
    if exploration.crash_points:
        yield '<details class="panel coverage"><summary>Crashes that were tried</summary>'
        yield '<dl class="plain">'
        for write, tried in describe_crash_points(exploration):
            yield f'<div class="fact"><dt>{_text(write)}</dt><dd>{_text(tried)}</dd></div>'
        yield "</dl></details>"


def _overview(entries: Sequence[TimelineEntry], lanes: Sequence[str]) -> Iterator[str]:
    """A mark for each entry; long times without any entry are drawn short."""
    if not entries:
        return
    places, where = [], 0.0
    for before, entry in zip((entries[0], *entries), entries, strict=False):
        where += math.log1p(20 * max(0.0, entry.at - before.at))
        places.append(where)
    scale = (_WIDTH - _LEFT - 20) / (where or 1.0)
    height = _ROW * len(lanes) + 24
    yield '<section class="panel overview"><header><h2>Overview</h2>'
    yield "<small>pauses are shortened; a mark leads to its line</small></header>"
    yield f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="Marks of all entries">'
    for row, lane in enumerate(lanes):
        y = row * _ROW + _ROW // 2
        yield f'<line x1="{_LEFT}" x2="{_WIDTH - 10}" y1="{y}" y2="{y}"/>'
        yield f'<text class="name" x="0" y="{y + 4}">{_text(lane[:20])}</text>'
    marks: dict[tuple[int, int, str], int] = {}  # place, lane and kind, to the first such entry
    labelled = -100
    for number, (entry, place) in enumerate(zip(entries, places, strict=True)):
        x = round(_LEFT + place * scale)
        marks.setdefault((x // 3 * 3, lanes.index(_lane(entry)), _kind(entry)), number)
        if x - labelled >= 80:
            labelled = x
            yield f'<text x="{x}" y="{height - 6}">{entry.at:.2f} s</text>'
    # What matters most is drawn last, above the others.
    for (x, row, kind), number in sorted(marks.items(), key=lambda each: -_KINDS.index(each[0][2])):
        size = 22 if kind in _LARGE else 14
        y, entry = row * _ROW + (_ROW - size) // 2, entries[number]
        title = f"<title>{_text(f'{entry.at:.3f} {entry.kind}: {entry.text}')}</title>"
        mark = f'<rect x="{x}" y="{y}" width="3" height="{size}" rx="1" data-kind="{kind}">'
        yield f'<a href="#t{number}">{mark}{title}</rect></a>'
    yield "</svg></section>"


def _filters(entries: Sequence[TimelineEntry], lanes: Sequence[str]) -> Iterator[str]:
    yield '<form class="panel search" role="search"><div><small>Processes</small>'
    yield '<div class="tabs">'
    for number, lane in enumerate(lanes, 1):
        yield _button("lane", str(number), lane, is_on=lane != _HIDDEN)
    yield '</div></div><div><small>Kinds</small><div class="tabs">'
    found = {_kind(each) for each in entries}
    for kind in _KINDS:
        if kind in found:
            yield _button("kind", kind, kind, is_on=True)
    yield '</div></div><label><span>Text <small id="count"></small></span>'
    yield '<input type="search" placeholder="Press / to search" aria-keyshortcuts="/">'
    yield "</label></form>"


def _button(filtered: str, value: str, text: str, *, is_on: bool) -> str:
    kind = f' data-kind="{value}"' if filtered == "kind" else ""
    return (
        f'<button type="button" aria-pressed="{str(is_on).lower()}" data-filter="{filtered}"'
        f' data-value="{value}"{kind}>{_text(text)}</button>'
    )


def _timeline(entries: Sequence[TimelineEntry], lanes: Sequence[str]) -> Iterator[str]:
    yield '<section class="panel timeline" id="timeline" aria-label="Timeline">'
    yield '<div class="heads"><small>virtual seconds</small>'
    for number, lane in enumerate(lanes, 1):
        yield f'<span class="in{number}">{_text(lane)}</span>'
    yield "</div><ol>"
    for number, entry in enumerate(entries):
        column = lanes.index(_lane(entry)) + 1
        yield (
            f'<li id="t{number}" data-lane="{column}" data-kind="{_kind(entry)}">'
            f"<time>{entry.at:.3f}</time>"
            f'<p class="in{column}"><b>{_text(entry.kind)}</b>{_text(entry.text)}</p></li>'
        )
    yield "</ol></section>"


# --- texts and files


def _lane(entry: TimelineEntry) -> str:
    return entry.process or _TEST


def _kind(entry: TimelineEntry) -> str:
    return entry.kind if entry.kind in _KINDS else "log"


def _text(text: str) -> str:
    """A text that is safe in HTML and in attributes, with control characters made visible."""
    shown = (each if each.isprintable() or each == "\n" else _visible(each) for each in text)
    return escape("".join(shown))


def _visible(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _style(lanes: int) -> str:
    # The look of the inspector, from its file, because importing it needs more.
    columns = (f".in{each} {{ grid-column: {each + 1}; }}" for each in range(1, lanes + 1))
    own = _resource(__package__ or "", "trace_page.css").replace("--lanes: 1", f"--lanes: {lanes}")
    return "\n".join([_resource("kubeloop", "inspector/page/page.css"), own, *columns])


def _resource(package: str, path: str) -> str:
    return files(package).joinpath(path).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
