"""Reads YAML text into plain JSON values as Kubernetes' own tools do, and writes it back.

Guarantees: only JSON values come out (dict with str keys, list, str, int, float, bool, None),
each with no part in common with another; a key that stands twice is an error; what would
exhaust memory or the stack is an error; an error names source, line and column, and shows
nothing of the text but a key that stands twice.
Unlike sigs.k8s.io/yaml, a key beside a merge (`<<`) wins wherever it stands, a custom tag is
an error, and `!!binary` stays base64: YAML's own rules, and the ones that lose nothing.
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

# Only the parser of it is used; what its resolvers and constructors would say is not asked.
_PARSER: type[yaml.CSafeLoader | yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# Where a JSON document may begin: behind blanks, and behind lines that only separate.
_BEFORE_JSON = re.compile(r"(?:[ \t\r\n]+|(?<![^\n])---[ \t]*(?:#[^\n]*)?(?:\r?\n|$))*")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_CITED = re.compile(r"'(?!<)[^']{2,}'")  # but not the names of tokens, like '<block end>'


def load_document(text: str | bytes, *, source: str = "") -> JSON:
    """Read the one document in `text`. Raises as `load_documents` does, also for none or two."""
    found = _read(text, source)
    if not found:
        raise _error(source, (1, 1), "expected one document, found none (write one)")
    if len(found) > 1:
        message = f"expected one document, found {len(found)}, the second of them here"
        raise _error(source, found[1].place, f"{message} (keep one of them)")
    return found[0].value


def load_documents(text: str | bytes, *, source: str = "") -> list[JSON]:
    """Read every document in `text`, YAML or JSON; empty ones and mere comments are skipped.

    JSON documents may follow each other directly, as in `{...}{...}` or one a line.
    `source` is what the text is called in errors, for instance the name of its file.

    Raises:
        DecodeError: the text is not YAML, or holds what JSON cannot.
    """
    return [document.value for document in _read(text, source)]


# --- from text to documents


def _read(text: str | bytes, source: str) -> list[Document]:
    # No error is chained here: PyYAML's cite the text, and the text may be a secret.
    try:
        decoded = _decoded(text)
        documents, rest = _read_json(decoded)
        return documents if rest is None else [*documents, *_read_yaml(rest)]
    except Problem as problem:
        raise _error(source, problem.place, str(problem)) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise _error(source, place, _syntax(error)) from None


def _error(source: str, place: tuple[int, int], message: str) -> DecodeError:
    line, column = place
    return DecodeError(message, path=f"{source or 'YAML'}, line {line}, column {column}")


def _syntax(error: yaml.MarkedYAMLError) -> str:
    # PyYAML's words may cite a tag, and a password that begins with "!" looks like one.
    said = _CITED.sub("...", error.problem or "it is no YAML")
    return f"cannot read the text from here on: {said} (correct it, or quote what is meant as text)"


def _decoded(text: str | bytes) -> str:
    """The text without a byte order mark, in which nothing is left that is no character."""
    decoded = (text if isinstance(text, str) else _unicode(text)).removeprefix("\ufeff")
    if half := SURROGATE.search(decoded):
        message = "found half a surrogate pair (give valid Unicode)"
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


# --- JSON, which YAML's readers do not read in full: "\/", pairs of \u, tabs, DEL


def _read_json(text: str) -> tuple[list[Document], str | None]:
    """The JSON documents that `text` begins with, and what is for YAML to read, or to place.

    They may follow each other without a separator, as `kubectl` takes them.
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
        if not _is_shallow(value) or (_ESCAPED_SURROGATE.search(part) and _is_halved(value)):
            break
        found.append(Document(value, (line, column)))
        begin, at = at, _end_of_blanks(text, end)
        # Counted on from the last document: a long stream is read once.
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
        raise ValueError("a key stands twice")
    return found


def _no_constant(name: str) -> JSON:
    raise ValueError(f"{name} is no JSON")


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


def _is_halved(value: JSON) -> bool:
    return SURROGATE.search(json.dumps(value, ensure_ascii=False)) is not None
