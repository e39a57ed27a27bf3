"""A JSONPath template, compiled once and used on any data.

Guarantees: using one changes nothing in it or in the data, from any thread; what goes
wrong is a `JSONPathError` that names the template and the place.
See also: the language (`parser`), the search (`walk`), the writing (`printing`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, final

from .parser import parse
from .printing import print_json, print_text
from .syntax import JSONPathError
from .walk import Walker, plain

__all__ = ["JSONPath", "relaxed"]

_RELAXED: Final = re.compile(r"\{([^{}]+)\}|([^{}]+)")


@final
class JSONPath:
    """A compiled template: `JSONPath("{.items[*].metadata.name}").render(pods)`.

    Data is maps and lists, or models, which are asked for `to_dict()`.
    With `allow_missing_keys` a key that is nowhere finds nothing instead of failing.

    Raises:
        JSONPathError: the template cannot be read.
    """

    __slots__ = ("_pieces", "_walker", "allow_missing_keys", "template")

    def __init__(self, template: str, *, allow_missing_keys: bool = False) -> None:
        self.template = template
        self.allow_missing_keys = allow_missing_keys
        self._pieces = parse(template)
        self._walker = Walker(template, allow_missing_keys=allow_missing_keys)

    def find(self, data: object) -> list[list[Any]]:
        """One list of results for each text and action, in order, ranges rolled out.

        Raises:
            JSONPathError: the template does not fit the data.
        """
        return self._walker.results(self._pieces, plain(data))

    def values(self, data: object) -> list[Any]:
        """All results in one list.

        Raises:
            JSONPathError: the template does not fit the data.
        """
        return [value for results in self.find(data) for value in results]

    def render(self, data: object) -> str:
        """The text that kubectl's `-o jsonpath` prints.

        Raises:
            JSONPathError: the template does not fit the data, or JSON cannot say a result.
        """
        return self._render(print_text, data)

    def render_json(self, data: object) -> str:
        """The text that kubectl's `-o jsonpath-as-json` prints: an array for each action.

        Raises:
            JSONPathError: the template does not fit the data, or JSON cannot say a result.
        """
        return self._render(print_json, data)

    def __repr__(self) -> str:
        return f"JSONPath({self.template!r})"

    def _render(self, print_one: Callable[[list[Any]], str], data: object) -> str:
        try:
            return "".join(map(print_one, self.find(data)))
        except (TypeError, ValueError, RecursionError) as error:
            if isinstance(error, JSONPathError):
                raise
            raise JSONPathError(
                f"a result cannot be written as JSON: {error}", template=self.template, position=0
            ) from error


def relaxed(text: str) -> str:
    """The template that a bare path means: `metadata.name` is `{.metadata.name}`.

    This is how kubectl reads columns, sort keys and wait conditions; a leading dot, `$`
    or pair of braces is welcome.

    Raises:
        JSONPathError: it is not one path.
    """
    found = _RELAXED.fullmatch(text.strip())
    path = (found[1] or found[2]).strip().lstrip("$@").removeprefix(".") if found else ""
    if not path:
        raise JSONPathError(
            "not one path (write name1.name2, .name1.name2 or {.name1.name2})",
            template=text,
            position=0,
        )
    return f"{{{path}}}" if path.startswith("[") else f"{{.{path}}}"
