"""Counts the words that docs/reference/glossary.md replaces, in every file that people edit.

`make words` lowers the numbers in `tests/stop_words.json` to what the files have now. It never
raises one: write the word of the glossary instead. Parts of identifiers count as words
(`_guest_list`, `GuestList`, `GUESTS`). Generated files and the changelog of released versions
do not count.
See also: `tests/test_words.py` compares the numbers.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

__all__ = ["STOP_WORDS", "counts", "read_table", "stop_words"]

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "tests/stop_words.json"

STOP_WORDS: Final[Mapping[str, str]] = {
    "anew": "again, from the beginning",
    "anybody": "any caller, any client, any task",
    "door doors": "public API, `__init__.py`",
    "entrance entrances": "listener, listening socket",
    "errand errands": "prepared request",
    "everybody": "every caller, every client, every task",
    "farewell farewells": "close handshake, close_notify",
    "gathering": "streaming list, initial stream",
    "guest guests": "connection, client",
    "heard": "received, notified",
    "mend mended mending mends": "fix, repair, recover",
    "mirror mirrored mirroring mirrors": "cache, informer, copy",
    "nobody": "no caller, no handler, nothing",
    "room rooms": "package; space or capacity for a queue",
    "said": "reported, returned, the value itself",
    "somebody": "a caller, a client, a task",
    "surroundings": "environment, context, what is shared",
    "taught": "configured, registered",
    "told": "notified, configured, given",
    "trouble troubles": "failure, error",
    "whoever": "the caller that, a client that",
}
"""Words, with their forms, and what to write instead."""

CLASSES: Final = (
    *("Applying", "Connecting", "Errand", "Fetching", "Gathering", "Home", "Life", "Line"),
    *("Place", "Popping", "Probing", "Surroundings", "Telling", "Waiting", "Way"),
)
"""Names of classes that do not name the thing; their words are fine elsewhere."""

_FOLDERS: Final = ("bench", "docs", "examples", "src", "tests", "tools")
_SUFFIXES: Final = {".css", ".go", ".html", ".js", ".md", ".py", ".toml", ".yaml", ".yml"}
# The glossary and this check have to name the words.
_EXCEPT: Final = {"docs/reference/glossary.md", "tests/test_words.py", "tools/stop_words.py"}
_RELEASED: Final = re.compile(r"^## \[0\.1\.0\].*", re.DOTALL | re.MULTILINE)


def _pattern() -> re.Pattern[str]:
    words = " ".join(STOP_WORDS).split()
    lower, title, upper = (
        "|".join(sorted(map(change, words), reverse=True))
        for change in (str.lower, str.title, str.upper)
    )
    # A word ends where a name in snake_case or CamelCase begins its next one.
    return re.compile(
        rf"(?<![A-Za-z])(?:{lower})(?![a-z])"
        rf"|(?:{title})(?![a-z])"
        rf"|(?<![A-Za-z])(?:{upper})(?![A-Za-z])"
        rf"|(?<=class )_?(?:{'|'.join(CLASSES)})\b"
    )


_WORDS: Final = _pattern()


def stop_words(text: str) -> list[str]:
    """The words of a text that the glossary replaces, in their order."""
    return _WORDS.findall(text)


def _words_of(path: Path) -> list[str]:
    """The words of a file that the glossary replaces."""
    text = path.read_text(encoding="utf-8")
    if text.startswith("# Generated"):
        return []
    if path.name == "CHANGELOG.md":
        text = _RELEASED.sub("", text)
    return stop_words(text)


def _files() -> Iterator[Path]:
    """The files that count, of the folders of the project and of its top."""
    yield from (ROOT / name for name in ("Makefile", "mkdocs.yml", "pyproject.toml"))
    yield from _of_suffix(ROOT.glob("*.md"))
    for folder in _FOLDERS:
        yield from _of_suffix((ROOT / folder).rglob("*"))


def _of_suffix(paths: Iterator[Path]) -> Iterator[Path]:
    for path in paths:
        if path.suffix in _SUFFIXES and "_generated" not in path.parts and path.is_file():
            yield path


def counts() -> dict[str, int]:
    """How many stop words each file has; files without any are left out."""
    found = {path.relative_to(ROOT).as_posix(): len(_words_of(path)) for path in _files()}
    return {name: found[name] for name in sorted(found) if found[name] and name not in _EXCEPT}


def read_table() -> dict[str, int]:
    """What each file may have."""
    table: dict[str, int] = json.loads(TABLE.read_text(encoding="utf-8"))
    return table


def main() -> int:
    found = counts()
    allowed = read_table() if TABLE.exists() else found
    lowered = {name: min(number, found[name]) for name, number in allowed.items() if name in found}
    TABLE.write_text(json.dumps(lowered, indent=1) + "\n", encoding="utf-8")
    more = {name: number for name, number in found.items() if number > allowed.get(name, 0)}
    for name, number in more.items():
        words = " ".join(_words_of(ROOT / name))
        print(f"{name}: {number} words, {allowed.get(name, 0)} allowed: {words}")
    if more:
        print("docs/reference/glossary.md says what to write instead")
    return 1 if more else 0


if __name__ == "__main__":
    sys.exit(main())
