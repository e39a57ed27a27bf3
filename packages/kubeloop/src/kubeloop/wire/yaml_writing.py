"""Writes plain JSON values as YAML text for people to read.

Guarantees: block style without aliases, keys in the given order, lines are not wrapped;
control, bidi and other hidden characters are escaped, so that they are visible; reading the
text gives the same values here, in Go and in any reader of YAML 1.1; the text does not depend
on how PyYAML was built.
How: libyaml's writer is not used, because it turns a text of many lines into one quoted line
if it contains an emoji.
See also: the values of scalars (`yaml_scalars`), reading (`yaml`).
"""

from __future__ import annotations

import json
import math
import re
from typing import Final, final

import yaml

from .errors import InvalidArgument
from .text import HIDDEN
from .yaml_scalars import MAX_DEPTH, SURROGATE, resolve

__all__ = ["dump_document", "dump_documents"]

# Readers search for the colon after a key in the next 1,024 characters only.
_LONGEST_SIMPLE_KEY: Final = 1000

# Characters that need quotes and an escape: hidden ones, including all that YAML forbids
# (`NEVER_RAW`), tabs and line breaks.
_ESCAPED = re.compile(rf'{HIDDEN}|["\\]')
_ODD_IN_BLOCK = re.compile(rf"(?![\t\n])(?:{HIDDEN})")
# A first character that has no meaning in YAML, and not a document marker.
_BEGINS_PLAIN = re.compile(r"(?!(?:---|\.\.\.)(?: |$))(?:[^-?:,\[\]{}#&*!|>'\"%@` ]|[-?:](?=[^ ]))")
_STEP = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")

# How other readers resolve plain text: PyYAML's table.
_ELSEWHERE = yaml.resolver.Resolver()
_TEXT_TAG: Final = "tag:yaml.org,2002:str"


def dump_document(document: object) -> str:
    """Write one value as one YAML document. Raises as `dump_documents` does."""
    return dump_documents(document)


def dump_documents(*documents: object) -> str:
    """Write values as YAML documents with `---` between them.

    Raises:
        InvalidArgument: a value is not JSON; the message has its path.
    """
    return "---\n".join(
        _Writer(f"document {number}" if len(documents) > 1 else "the document").write(document)
        for number, document in enumerate(documents, start=1)
    )


@final
class _Writer:
    """Writes one document, and knows the path of the current value for errors."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._path: list[str | int] = []
        self._out: list[str] = []  # complete lines with line breaks

    def write(self, document: object) -> str:
        if _is_block(document):
            self._block(document, 0)
        else:
            self._out.append(f"{self._inline(document, 0)}\n")
        return "".join(self._out)

    def _block(self, value: object, indent: int) -> None:
        """Write a non-empty collection, each line indented by `indent` spaces."""
        self._check_depth()
        pad = " " * indent
        if isinstance(value, dict):
            for key, item in value.items():
                text = self._checked_key(key)
                self._path.append(text)
                self._entry(_key(text, pad), item, indent, compact=False)
                self._path.pop()
        elif isinstance(value, list):
            for index, item in enumerate(value):
                self._path.append(index)
                self._entry(f"{pad}-", item, indent, compact=True)
                self._path.pop()

    def _entry(self, lead: str, item: object, indent: int, *, compact: bool) -> None:
        """Write `item` after `lead`, a key or a dash; a compact one begins in the same line."""
        if not _is_block(item):
            self._out.append(f"{lead} {self._inline(item, indent)}\n")
        elif compact:
            start, inner = len(self._out), indent + 2
            self._block(item, inner)
            self._out[start] = f"{lead} {self._out[start][inner:]}"
        else:
            self._out.append(f"{lead}\n")
            # The dashes of a list are not indented below its key, as in Kubernetes.
            self._block(item, indent if isinstance(item, list) else indent + 2)

    def _checked_key(self, key: object) -> str:
        if not isinstance(key, str):
            raise self._error(f"a key of type {type(key).__name__} (make it a str)")
        if SURROGATE.search(key):
            raise self._error("a key with half a surrogate pair (use valid Unicode)")
        return str.__str__(key)  # str() of an enum is not its value

    def _check_depth(self) -> None:
        if len(self._path) >= MAX_DEPTH:
            found = f"collections nested more than {MAX_DEPTH} deep"
            raise self._error(f"{found} (flatten them; does one contain itself?)")

    def _inline(self, value: object, indent: int) -> str:
        """A scalar or an empty collection, in the line of its key or dash."""
        match value:
            case None:
                return "null"
            case bool():
                return "true" if value else "false"
            case int():
                return self._integer(value)
            case float():
                return self._float(value)
            case str():
                return self._text(str.__str__(value), indent)
            case dict() | list():
                self._check_depth()
                return "{}" if isinstance(value, dict) else "[]"
        raise self._error(
            f"a value of type {type(value).__name__}"
            " (give dict, list, str, int, float, bool and None only)"
        )

    def _integer(self, value: int) -> str:
        if not -(2**63) <= value < 2**64:
            raise self._error("an integer beyond 64 bits (give a float or a str)")
        return int.__repr__(value)

    def _float(self, value: float) -> str:
        if not math.isfinite(value):
            raise self._error("a float that is not finite (JSON cannot represent it)")
        text = float.__repr__(value)
        # YAML 1.1 requires the point: 1e+16 would be text.
        return text if "." in text else text.replace("e", ".0e")

    def _text(self, text: str, indent: int) -> str:
        if SURROGATE.search(text):
            raise self._error("text with half a surrogate pair (use valid Unicode)")
        if _may_be_plain(text):
            return text
        if _may_be_literal(text):
            return _literal(text, " " * (indent + 2))
        return _quote(text)

    def _error(self, found: str) -> InvalidArgument:
        steps = "".join(_step(step) for step in self._path).removeprefix(".")
        where = f"{steps} in {self._name}" if steps else self._name
        return InvalidArgument(f"cannot write {where} as YAML: found {found}")


def _is_block(value: object) -> bool:
    return isinstance(value, dict | list) and bool(value)


def _key(key: str, pad: str) -> str:
    text = key if _may_be_plain(key) else _quote(key)
    if len(text) > _LONGEST_SIMPLE_KEY:
        return f"{pad}? {text}\n{pad}:"
    return f"{pad}{text}:"


def _may_be_plain(text: str) -> bool:
    # Text that would be parsed as a key or a comment, or would be invalid.
    claimed = ": " in text or " #" in text or text.endswith((":", " "))
    if claimed or not _BEGINS_PLAIN.match(text) or _is_odd(text):
        return False
    means = _ELSEWHERE.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]  # so the stubs
    return means == _TEXT_TAG and isinstance(resolve(text), str)


def _is_odd(text: str) -> bool:
    plain = text.isascii() and text.isprintable()  # nearly all texts, and a cheap check
    return not plain and re.search(HIDDEN, text) is not None


def _may_be_literal(text: str) -> bool:
    """Whether a `|` block can represent `text` visibly: lines without trailing blanks."""
    lines = "\n" in text and not text.isspace()
    return lines and not text.endswith((" ", "\t")) and not _ODD_IN_BLOCK.search(text)


def _literal(text: str, pad: str) -> str:
    # A reader infers the indentation from the first line unless it is blank or indented.
    hint = "2" if text[0] in " \t\n" else ""
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    chomp = "-" if ends == 0 else "" if ends == 1 else "+"
    lines = [pad + line if line else "" for line in body.split("\n")]
    return f"|{hint}{chomp}\n" + "\n".join(lines) + "\n" * max(ends - 1, 0)


def _quote(text: str) -> str:
    if ('"' in text or "\\" in text) and not _is_odd(text):
        return "'" + text.replace("'", "''") + "'"
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    # JSON's escapes are valid in YAML, except surrogate pairs beyond the first plane.
    if char in '"\\\n\r\t':
        return json.dumps(char)[1:-1]
    if ord(char) < 0x100:
        return f"\\x{ord(char):02x}"
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _STEP.fullmatch(step) else f"[{json.dumps(step, ensure_ascii=False)}]"
