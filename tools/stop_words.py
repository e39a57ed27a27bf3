"""Finds words that the glossary replaces, in every file that people read or write.

    python tools/stop_words.py              check all files
    python tools/stop_words.py FILE...      check some, as the pre-commit hook does

Prints each word with its file and line, and what to write instead; the exit code is 1 if there
is one. Parts of identifiers count as words (`_guest_list`, `GuestList`, `GUESTS`). Generated
files, the released part of the changelog and its tables of renamed names do not count. A
legitimate use is listed in `ALLOWED`, with its reason.
See also: `glossary.md` in the documentation (the words), `tests/test_words.py` (checks all files).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["ALLOWED", "STOP_WORDS", "Finding", "all_files", "find", "findings_in"]

ROOT = Path(__file__).parent.parent

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

PHRASES: Final[Mapping[str, str]] = {
    r"^\s*(?:\"\"\")?Promises:": "Guarantees:",
    r"^\s*(?:\"\"\")?Elsewhere:": "See also:",
    r"\bhas it that\b": "says that, means that",
    r"\bwhatever happens\b": "always",
    r"\bwhat came\b": "the response, the input",
    r"\btaken is\b": "using",
    r"\bto be tried again\b": "will retry",
    r"\bsigns? of life\b": "liveness",
}
"""Regular expressions of phrases, and what to write instead."""

CLASSES: Final = (
    *("Answer", "Applying", "Asked", "Connecting", "Errand", "Fetching", "Gate", "Gathering"),
    *("Home", "Intake", "Keeper", "Life", "Line", "Notice", "Place", "Popping", "Probing"),
    *("Story", "Surroundings", "Telling", "Waiting", "Wanted", "Way"),
)
"""Names of classes that do not name the thing; the words are fine elsewhere."""

FUNCTIONS: Final = (
    *("asked", "dated", "told", "said", "heard", "noted", "counted", "shown", "requested"),
    *("renewed", "known", "stored", "checked", "opened"),
)
"""Names of functions that are participles: a verb names an effect, a noun names a value."""

ALLOWED: Final[Mapping[str, str]] = {
    "mirror pod annotation": "kube-apiserver's message",
    "kubernetes.io/config.mirror": "an annotation of the Kubernetes API",
}
"""Phrases with a stop word that are legitimate, such as a quotation, and the reason."""

_FOLDERS: Final = ("bench", "docs", "examples", "packages", "tests", "tools")
_SUFFIXES: Final = {".css", ".go", ".html", ".js", ".md", ".py", ".toml", ".yaml", ".yml"}
_TOP_LEVEL: Final = (
    "Makefile",
    "conftest.py",
    "mkdocs.yml",
    "pyproject.toml",
    ".pre-commit-config.yaml",
)
# Files that have to name the words.
_EXCLUDED: Final = {"glossary.md", "test_words.py", "stop_words.py"}
_RELEASED: Final = re.compile(r"^## \[0\.1\.0\].*", re.DOTALL | re.MULTILINE)
# The sections that have to name what is gone.
_RENAMED: Final = re.compile(r"^### Renamed$.*?(?=^### Fixed|\Z)", re.DOTALL | re.MULTILINE)


class Finding(NamedTuple):
    """A stop word in a text; `line` counts from one."""

    line: int
    word: str
    instead: str


def _pattern() -> re.Pattern[str]:
    words = " ".join(STOP_WORDS).split()
    lower, title, upper = (
        "|".join(sorted(map(change, words), reverse=True))
        for change in (str.lower, str.title, str.upper)
    )
    phrases = "|".join(f"(?:{phrase})" for phrase in PHRASES)
    # A word ends where a name in snake_case or CamelCase begins its next one.
    return re.compile(
        rf"(?<![A-Za-z])(?:{lower})(?![a-z])"
        rf"|(?:{title})(?![a-z])"
        rf"|(?<![A-Za-z])(?:{upper})(?![A-Za-z])"
        rf"|(?<=class )_?(?:{'|'.join(CLASSES)})\b"
        rf"|(?<=def )_?(?:{'|'.join(FUNCTIONS)})(?=\()"
        rf"|{phrases}",
        re.MULTILINE,
    )


_WORDS: Final = _pattern()
_ALLOWED: Final = re.compile("|".join(map(re.escape, ALLOWED)) or r"\b\B")
_INSTEAD: Final = {form: instead for forms, instead in STOP_WORDS.items() for form in forms.split()}


def find(text: str) -> list[Finding]:
    """The stop words of a text, in order."""
    text = _ALLOWED.sub(lambda allowed: " " * len(allowed[0]), text)
    return [
        Finding(text.count("\n", 0, found.start()) + 1, found[0].strip(), _instead(found[0]))
        for found in _WORDS.finditer(text)
    ]


def _instead(word: str) -> str:
    if word.lower() in _INSTEAD:
        return _INSTEAD[word.lower()]
    for phrase, instead in PHRASES.items():
        if re.search(phrase, word, re.MULTILINE):
            return instead
    return "a noun for the thing" if word.lstrip("_")[0].isupper() else "a verb, or a noun"


def findings_in(path: Path) -> list[Finding]:
    """The stop words of a file; none in a generated one."""
    text = path.read_text(encoding="utf-8")
    if text.startswith("# Generated") or path.name in _EXCLUDED:
        return []
    if path.name == "CHANGELOG.md":
        text = _RENAMED.sub("", _RELEASED.sub("", text))
    return find(text)


def all_files() -> Iterator[Path]:
    """The files that are checked, of the folders of the project and of its top level."""
    yield from (ROOT / name for name in _TOP_LEVEL)
    yield from filter(_is_checked, ROOT.glob("*.md"))
    for folder in _FOLDERS:
        yield from filter(_is_checked, (ROOT / folder).rglob("*"))


def _is_checked(path: Path) -> bool:
    return path.suffix in _SUFFIXES and "_generated" not in path.parts and path.is_file()


def main(arguments: Sequence[str]) -> int:
    """Print the stop words of the files; returns the exit code."""
    files: Iterable[Path] = filter(_is_checked, map(Path, arguments)) if arguments else all_files()
    findings = [(path, finding) for path in files for finding in findings_in(path)]
    for path, (line, word, instead) in findings:
        shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        print(f"{shown}:{line}: {word}: write {instead}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
