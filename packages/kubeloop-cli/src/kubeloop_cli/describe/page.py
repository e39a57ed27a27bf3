"""The text of a description: lines with cells, aligned like the tab stops of kubectl.

Guarantees: no I/O; text of the server cannot break a line or control the terminal.
See also: `kubeloop_cli.tables` (tables, where all rows have the same cells).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, final

from kubeloop.wire import InvalidArgument, Quantity, parse_time, visible

__all__ = ["Json", "Page", "go_bool", "labels_text", "local_time", "quantity", "selector_text"]

Json = Mapping[str, Any]

_PADDING = 2
_LONGEST_ANNOTATION = 140
_HIDDEN_ANNOTATIONS = {"kubectl.kubernetes.io/last-applied-configuration"}


@final
class Page:
    """Collects lines, and aligns their cells at the end."""

    def __init__(self) -> None:
        self._lines: list[list[str]] = []

    def add(self, level: int, *cells: object) -> None:
        """One line: cells in columns, after two spaces for each level."""
        first, *others = (visible(str(cell)) for cell in cells)
        self._lines.append(["  " * level + first, *others])

    def add_blank(self) -> None:
        self._lines.append([""])

    def add_value(self, level: int, title: str, value: str) -> None:
        """A title and a text, whose further lines follow as they are."""
        first, *others = value.split("\n")
        self.add(level, title, first)
        self.add_text(others)

    def add_text(self, lines: Sequence[str]) -> None:
        self._lines.extend([visible(line)] for line in lines)

    def add_table(self, level: int, header: Sequence[str], dashes: Sequence[str] = ()) -> None:
        """The header of a table, with a line of dashes below it."""
        self.add(level, *header)
        self.add(level, *(dashes or ["-" * len(each) for each in header]))

    def add_list(self, title: str, values: Sequence[str], *, indent: str = "") -> None:
        """One value on each line, below each other; `<none>` without values."""
        for number, value in enumerate(values or ["<none>"]):
            self.add(0, f"{indent}{title}:" if number == 0 else indent, value)

    def add_labels(self, title: str, labels: Json | None, *, indent: str = "") -> None:
        pairs = [f"{key}={value}" for key, value in sorted((labels or {}).items())]
        self.add_list(title, pairs, indent=indent)

    def add_annotations(self, annotations: Json | None, *, indent: str = "") -> None:
        shown = {
            key: str(value).removesuffix("\n")
            for key, value in sorted((annotations or {}).items())
            if key not in _HIDDEN_ANNOTATIONS
        }
        lines: list[str] = []
        for key, value in shown.items():
            if "\n" in value or len(key) + len(value) + 2 > _LONGEST_ANNOTATION:
                lines += [f"{key}:", *(f"  {_shorten(line)}" for line in value.split("\n"))]
            else:
                lines.append(f"{key}: {value}")
        self.add_list("Annotations", lines, indent=indent)

    def add_metadata(self, obj: Json, *, namespace: bool = True) -> None:
        """Name, namespace, labels and annotations."""
        metadata = obj["metadata"]
        self.add(0, "Name:", metadata.get("name") or "")
        if namespace:
            self.add(0, "Namespace:", metadata.get("namespace") or "")
        self.add_labels("Labels", metadata.get("labels"))
        self.add_annotations(metadata.get("annotations"))

    def add_controller(self, obj: Json) -> None:
        for owner in obj["metadata"].get("ownerReferences") or ():
            if owner.get("controller"):
                self.add(0, "Controlled By:", f"{owner.get('kind')}/{owner.get('name')}")

    def add_quantities(self, level: int, title: str, values: Json | None) -> None:
        if values:
            self.add(level, f"{title}:")
            for name in sorted(values):
                self.add(level + 1, f"{name}:", quantity(values[name]))

    def text(self) -> str:
        """The lines with their columns aligned.

        A column is as wide as its widest cell among the lines that follow each other without
        a gap in that column; the last cell of a line belongs to no column.
        """
        widths: list[list[int]] = [[] for _ in self._lines]
        _align(self._lines, widths, 0, len(self._lines), 0)
        return "".join(
            f"{''.join(map(str.ljust, cells[:-1], found))}{cells[-1]}\n"
            for cells, found in zip(self._lines, widths, strict=True)
        )


def _align(
    lines: list[list[str]], widths: list[list[int]], start: int, end: int, column: int
) -> None:
    while start < end:
        stop = start
        while stop < end and len(lines[stop]) - 1 > column:
            stop += 1
        if stop == start:
            start += 1
            continue
        width = max(len(line[column]) for line in lines[start:stop]) + _PADDING
        for found in widths[start:stop]:
            found.append(width)
        _align(lines, widths, start, stop, column + 1)
        start = stop


def _shorten(text: str) -> str:
    limit = _LONGEST_ANNOTATION - 2
    return f"{text[:limit]}..." if len(text) > limit else text


# --- values


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def local_time(moment: str | None, *, zone: Callable[[datetime], datetime] | None = None) -> str:
    """`Wed, 18 Nov 2026 03:47:55 +0000`, in the time zone of this machine."""
    if not moment:
        return "<unset>"
    try:
        time = parse_time(moment)
    except InvalidArgument:
        return moment
    time = zone(time) if zone else time.astimezone()
    # The names do not depend on the locale.
    return f"{_DAYS[time.weekday()]}, {time.day:02} {_MONTHS[time.month - 1]} {time:%Y %H:%M:%S %z}"


def quantity(value: object) -> str:
    """A quantity in its canonical form: `1k` for 1000."""
    try:
        return Quantity(str(value)).canonical()
    except InvalidArgument:
        return str(value)


def go_bool(value: object) -> str:
    return "true" if value else "false"


def labels_text(labels: Json | None) -> str:
    """`a=b,c=d`, or `<none>`."""
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or "<none>"


_OPERATORS = {"In": "in", "NotIn": "notin"}


def selector_text(selector: Json | None) -> str:
    """A label selector as it is written on the command line."""
    if selector is None:
        return "<none>"
    found = {key: f"{key}={value}" for key, value in (selector.get("matchLabels") or {}).items()}
    for each in selector.get("matchExpressions") or ():
        key, operator = str(each.get("key")), str(each.get("operator"))
        values = ",".join(sorted(each.get("values") or ()))
        match operator:
            case "Exists":
                found[key] = key
            case "DoesNotExist":
                found[key] = f"!{key}"
            case _:
                found[key] = f"{key} {_OPERATORS.get(operator, operator)} ({values})"
    return ",".join(found[key] for key in sorted(found)) or "<none>"
