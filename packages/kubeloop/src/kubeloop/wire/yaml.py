"""Reads YAML text into plain JSON values as the tools of Kubernetes do, and writes it.

Guarantees: the result consists of JSON values (dict with str keys, list, str, int, float,
bool, None) that share no parts; a duplicate key is an error, and so is text that would exhaust
memory or the stack; an error names source, line and column, and quotes nothing of the text but
a duplicate key.
Unlike in sigs.k8s.io/yaml, a key beside a merge (`<<`) wins regardless of their order, a custom
tag is an error, and `!!binary` stays base64: these are YAML's rules and lose nothing.
See also: events to values (`yaml_document`), what a scalar means (`yaml_scalars`), how
text is written (`yaml_writing`).
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator

import yaml

from .errors import DecodeError
from .yaml_document import JSON, Document, Problem
from .yaml_scalars import MAX_DEPTH, NEVER_RAW, SURROGATE, resolve
from .yaml_writing import dump_document, dump_documents

__all__ = ["JSON", "dump_document", "dump_documents", "load_document", "load_documents"]

# Only its parser is used, not its resolvers and constructors.
_PARSER: type[yaml.CSafeLoader | yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# A JSON document may begin after blanks and document separators.
_BEFORE_JSON = re.compile(r"(?:[ \t\r\n]+|(?<![^\n])---[ \t]*(?:#[^\n]*)?(?:\r?\n|$))*")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_CITED = re.compile(r"'(?!<)[^']{2,}'")  # but not names of tokens such as '<block end>'


def load_document(text: str | bytes, *, source: str = "") -> JSON:
    """Read the only document in `text`. Raises as `load_documents` does, also for none or two."""
    found = _read(text, source)
    if not found:
        raise _error(source, (1, 1), "expected one document, found none (write one)")
    if len(found) > 1:
        message = f"expected one document, found {len(found)}, the second of them here"
        raise _error(source, found[1].position, f"{message} (keep one of them)")
    return found[0].value


def load_documents(text: str | bytes, *, source: str = "") -> list[JSON]:
    """Read every document in `text`, YAML or JSON; empty ones and comments are skipped.

    JSON documents may follow each other directly, as in `{...}{...}` or one per line.
    `source` names the text in errors, such as its file.

    Raises:
        DecodeError: the text is not YAML, or has a value that JSON cannot represent.
    """
    return [document.value for document in _read(text, source)]


# --- from text to documents


def _read(text: str | bytes, source: str) -> list[Document]:
    # Errors are not chained: those of PyYAML quote the text, which may be a secret.
    try:
        decoded = _decode(text)
        documents, rest = _read_json(decoded)
        return documents if rest is None else [*documents, *_read_yaml(rest)]
    except Problem as problem:
        raise _error(source, problem.position, str(problem)) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise _error(source, position, _syntax(error)) from None


def _error(source: str, position: tuple[int, int], message: str) -> DecodeError:
    line, column = position
    return DecodeError(message, path=f"{source or 'YAML'}, line {line}, column {column}")


def _syntax(error: yaml.MarkedYAMLError) -> str:
    # PyYAML's message may quote a tag, and a password that begins with "!" looks like one.
    reason = _CITED.sub("...", error.problem or "it is not YAML")
    return (
        f"cannot read the text from here on: {reason} (correct it, or quote what is meant as text)"
    )


def _decode(text: str | bytes) -> str:
    """The decoded text without a byte order mark; invalid characters are an error."""
    decoded = (text if isinstance(text, str) else _unicode(text)).removeprefix("\ufeff")
    if half := SURROGATE.search(decoded):
        message = "found half a surrogate pair (use valid Unicode)"
        raise Problem(message, _end(decoded[: half.start()]))
    return decoded


def _unicode(text: bytes) -> str:
    wide = text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if wide else "utf-8"
    try:
        return text.decode(encoding)
    except UnicodeDecodeError as error:
        before = text[: error.start].decode(encoding, "replace")
        message = f"found bytes that are no {encoding.upper()} (save the text as UTF-8)"
        raise Problem(message, _end(before)) from None


def _end(text: str) -> tuple[int, int]:
    """The line and column that follow `text`."""
    return text.count("\n") + 1, len(text) - text.rfind("\n")


def _read_yaml(text: str) -> Iterator[Document]:
    if odd := NEVER_RAW.search(text):
        message = f"found the control character U+{ord(odd[0]):04X} (remove it, or escape it)"
        raise Problem(message, _end(text[: odd.start()]))
    document = Document()
    for event in yaml.parse(text, Loader=_PARSER):
        match event:
            case yaml.NodeEvent() | yaml.CollectionEndEvent():
                document.take(event)
            case yaml.DocumentStartEvent():
                document = Document()
            case yaml.DocumentEndEvent() if not document.empty:
                yield document


# --- JSON, which YAML parsers do not fully support: "\/", pairs of \u, tabs, DEL


def _read_json(text: str) -> tuple[list[Document], str | None]:
    """The JSON documents at the beginning of `text`, and the rest, which is YAML or invalid.

    They may follow each other without a separator, as `kubectl` accepts them.
    """
    found: list[Document] = []
    at = _end_of_blanks(text, 0)
    line, column = _end(text[:at])
    while text.startswith(("{", "["), at):
        try:
            value, end = _JSON.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        part = text[at:end]
        if not _is_shallow(value) or (
            _ESCAPED_SURROGATE.search(part) and _has_lone_surrogate(value)
        ):
            break
        found.append(Document(value, (line, column)))
        begin, at = at, _end_of_blanks(text, end)
        # Lines are counted from the last document, so that a long stream is scanned once.
        lines = text.count("\n", begin, at)
        line += lines
        column = at - text.rfind("\n", begin, at) if lines else column + at - begin
    if found and at == len(text):
        return found, None
    if found and text.startswith(("{", "["), at):
        return found, "\n" * (line - 1) + " " * (column - 1) + text[at:]
    return [], text


def _end_of_blanks(text: str, at: int) -> int:
    blanks = _BEFORE_JSON.match(text, at)
    return blanks.end() if blanks else at


def _unique(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a duplicate key")
    return found


def _no_constant(name: str) -> JSON:
    raise ValueError(f"{name} is not JSON")


_JSON = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_int=resolve,
    parse_float=resolve,
    parse_constant=_no_constant,
)


def _is_shallow(value: JSON) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        inner = [item for item in level if isinstance(item, dict | list)]
        if not inner:
            return True
        level = [x for item in inner for x in (item.values() if isinstance(item, dict) else item)]
    return False


def _has_lone_surrogate(value: JSON) -> bool:
    return SURROGATE.search(json.dumps(value, ensure_ascii=False)) is not None
