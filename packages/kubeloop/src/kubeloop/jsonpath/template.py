"""A JSONPath template that is compiled once and evaluated on any data.

Guarantees: a template is immutable and thread-safe, and never changes the data; every error
is a `JSONPathError` with the template and the position.
See also: the language (`parser`), the evaluation (`evaluator`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, final

from .evaluator import Evaluator, plain
from .parser import parse
from .syntax import JSONPathError

__all__ = ["JSONPath", "relaxed"]

_RELAXED: Final = re.compile(r"\{([^{}]+)\}|([^{}]+)")


@final
class JSONPath:
    """A compiled template: `JSONPath("{.items[*].metadata.name}").render(pods)`.

    Data is maps and lists, or models, which are converted with `to_dict()`.
    With `allow_missing_keys` a missing key gives no result instead of an error.

    Raises:
        JSONPathError: the template cannot be parsed.
    """

    __slots__ = ("_evaluator", "_pieces", "allow_missing_keys", "template")

    def __init__(self, template: str, *, allow_missing_keys: bool = False) -> None:
        self.template = template
        self.allow_missing_keys = allow_missing_keys
        self._pieces = parse(template)
        self._evaluator = Evaluator(template, allow_missing_keys=allow_missing_keys)

    def find(self, data: object) -> list[list[Any]]:
        """One list of results for each text and action, in order, with ranges expanded.

        Raises:
            JSONPathError: the template cannot be evaluated on the data.
        """
        return self._evaluator.results(self._pieces, plain(data))

    def values(self, data: object) -> list[Any]:
        """All results in one list.

        Raises:
            JSONPathError: the template cannot be evaluated on the data.
        """
        return [value for results in self.find(data) for value in results]

    def render(self, data: object) -> str:
        """The text that kubectl's `-o jsonpath` prints.

        Raises:
            JSONPathError: the template cannot be evaluated on the data, or a result is not JSON.
        """
        return self._render(_format_text, data)

    def render_json(self, data: object) -> str:
        """The text that kubectl's `-o jsonpath-as-json` prints: an array for each action.

        Raises:
            JSONPathError: the template cannot be evaluated on the data, or a result is not JSON.
        """
        return self._render(_format_json, data)

    def __repr__(self) -> str:
        return f"JSONPath({self.template!r})"

    def _render(self, format_results: Callable[[list[Any]], str], data: object) -> str:
        try:
            return "".join(map(format_results, self.find(data)))
        except (TypeError, ValueError, RecursionError) as error:
            if isinstance(error, JSONPathError):
                raise
            raise JSONPathError(
                f"a result cannot be written as JSON: {error}", template=self.template, position=0
            ) from error


def relaxed(text: str) -> str:
    """The template for a bare path: `{.metadata.name}` for `metadata.name`.

    kubectl parses columns, sort keys and wait conditions like this; a leading dot, `$` or a
    pair of braces is accepted.

    Raises:
        JSONPathError: it is not a single path.
    """
    found = _RELAXED.fullmatch(text.strip())
    path = (found[1] or found[2]).strip().lstrip("$@").removeprefix(".") if found else ""
    if not path:
        raise JSONPathError(
            "not a single path (write name1.name2, .name1.name2 or {.name1.name2})",
            template=text,
            position=0,
        )
    return f"{{{path}}}" if path.startswith("[") else f"{{.{path}}}"


def _format_text(results: list[Any]) -> str:
    """The results of one action, joined by single spaces.

    Raises:
        TypeError, ValueError, RecursionError: a result is not JSON.
    """
    return " ".join(map(_text, results))


def _format_json(results: list[Any]) -> str:
    """The results of one action as an indented array with a newline at the end.

    Raises:
        TypeError, ValueError, RecursionError: a result is not JSON.
    """
    return _json(results, indent=4) + "\n"


def _json(value: Any, **layout: Any) -> str:
    text = json.dumps(
        _with_go_numbers(value), ensure_ascii=False, allow_nan=False, sort_keys=True, **layout
    )
    return text.translate(_ESCAPED)


# Go escapes these in JSON; they occur inside strings only.
_ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def _text(value: Any) -> str:
    value = plain(value)
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return _float_text(value)
    return _json(value, separators=(",", ":"))


def _with_go_numbers(value: Any) -> Any:
    """`value` with whole floats as integers, as Go writes them."""
    value = plain(value)
    match value:
        case dict():
            return {str(key): _with_go_numbers(item) for key, item in value.items()}
        case list():
            return [_with_go_numbers(item) for item in value]
        case float() if value.is_integer() and abs(value) < 1e21:
            return int(value)
    return value


def _float_text(value: float) -> str:
    """A float as Go prints it: 1, 2.5, 1e+06."""
    shortest = Decimal(repr(value))
    if not shortest.is_finite() or not shortest:
        return repr(value).removesuffix(".0")
    digits = "".join(map(str, shortest.as_tuple().digits)).rstrip("0")
    exponent = shortest.adjusted()
    if -4 <= exponent < 6:
        return f"{shortest:f}".removesuffix(".0")
    sign = "-" if value < 0 else ""
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{exponent:+03d}"
