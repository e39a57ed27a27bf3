"""Regular expressions that users write, such as `pattern` in the schema of a definition.

Guarantees: a pattern is accepted and matches as in Go, in time linear in the text: RE2 evaluates
it, whose syntax Go's is. Without the package `google-re2`, Python's `re` evaluates a translation
(`go_patterns`), and a pattern for which its time could grow exponentially is refused.
See also: the limits of a text that a pattern is matched with (`http`: 3 MiB for a body).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Final

from .go_patterns import MAX_DEPTH, PatternError, translate

__all__ = ["PatternError", "matcher"]

# Above RE2's default of 8 MiB there are patterns that Go accepts, such as `\pL{1,1000}`.
_MAX_MEMORY: Final = 256 << 20
# What RE2 says, and what Go says of the same; the other sentences are equal.
_SENTENCES: Final = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "pattern too large - compile failed": "expression too large",
    "trailing \\": "trailing backslash at end of expression",
}
# Escapes, literal texts, classes, the beginnings of groups, and their ends.
_TOKEN: Final = re.compile(
    r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|[()]", re.DOTALL
)


@functools.lru_cache(maxsize=1024)
def matcher(text: str) -> Callable[[str], bool]:
    """A function that says whether a value has a match of the pattern `text`.

    Raises:
        PatternError: Go does not accept the pattern, or it needs `google-re2`.
    """
    try:
        import re2
    except ImportError:  # the extra `testing` is not installed
        search = re.compile(translate(text)).search
    else:
        options = re2.Options()
        options.log_errors = False
        options.max_mem = _MAX_MEMORY
        try:
            search = re2.compile(text, options).search
        except re2.error as error:
            raise PatternError(_go_sentence(error.args[0].decode(), text)) from None
        _check_syntax_of_go(text)
    return lambda value: search(value) is not None


def _go_sentence(sentence: str, text: str) -> str:
    what, _, where = sentence.partition(": ")
    if where in {"(?<!", "(?<="}:  # to Go the beginning of a name
        return f"invalid named capture: `{text[text.index(where) :]}`"
    return f"{_SENTENCES.get(what, what)}: `{where}`"


def _check_syntax_of_go(text: str) -> None:
    """Refuse what only RE2 accepts: `\\C`, and deeper nesting."""
    depth = 0
    for token in _TOKEN.finditer(text):
        if token[0] == r"\C":
            raise PatternError(r"invalid escape sequence: `\C`")
        if token[0] == "(":
            depth += 1
        elif token[0] == ")":
            depth -= 1
        if depth > MAX_DEPTH:
            raise PatternError(f"expression nests too deeply: `{text}`")
