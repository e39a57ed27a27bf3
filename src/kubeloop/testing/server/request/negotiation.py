"""Which form of answer a request accepts, and what its body is written in.

Promises: pure; the first acceptable form wins, by weight and then by order; what cannot
be given is 406 and what cannot be read 415, each naming what could be.
Elsewhere: the forms themselves (`forms`), reading a body (`bodies`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, final

import msgspec

from kubeloop.wire.protobuf import PROTOBUF, from_protobuf

from ..statuses import bad_request, not_acceptable, unsupported_media_type

__all__ = [
    "JSON",
    "NOWHERE",
    "PROTOBUF",
    "YAML",
    "Answer",
    "Wanted",
    "body_type",
    "decoded_body",
    "sort_of",
    "summary",
    "wanted",
    "warning_headers",
]

JSON = "application/json"
YAML = "application/yaml"
_ACCEPTED = (JSON, YAML, PROTOBUF)
_YAML_NAMES = frozenset({YAML, "application/x-yaml", "text/yaml"})
MAX_DEPTH = 512  # nesting of a body; beyond it no reader is safe

Target = Literal["", "PartialObjectMetadata", "PartialObjectMetadataList", "Table"]


@final
class Wanted(msgspec.Struct, frozen=True):
    """What the client accepts, best first choice made."""

    media: str = JSON
    target: Target = ""
    pretty: bool = False


class Answer(msgspec.Struct, frozen=True):
    """A whole answer, ready to be sent."""

    code: int
    body: bytes
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    media: str = JSON
    warnings: tuple[str, ...] = ()


def warning_headers(warnings: Iterable[str]) -> list[tuple[str, str]]:
    """One header for each warning."""
    return [("Warning", f"299 - {_quoted(each)}") for each in warnings]


def _quoted(text: str) -> str:
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# Where kube-apiserver itself serves nothing, and speaks no Status.
NOWHERE = Answer(404, b"404 page not found\n", media="text/plain; charset=utf-8")


@functools.lru_cache(maxsize=256)
def wanted(accept: str, *, convertible: bool = True) -> Wanted:
    """The best form that `accept` allows; an absent header accepts JSON.

    Raises:
        Refusal: 406 when nothing in it can be given.
    """
    if not accept:
        return Wanted()
    for media, said in _by_weight(accept):
        found = _offered(media, said, convertible=convertible)
        if found is not None:
            return found
    raise not_acceptable(_ACCEPTED)


def _by_weight(accept: str) -> Iterator[tuple[str, dict[str, str]]]:
    clauses = [_clause(text) for text in accept.split(",") if text.strip()]
    clauses.sort(key=lambda clause: -_weight(clause[1]))
    return iter(clauses)


def _clause(text: str) -> tuple[str, dict[str, str]]:
    media, *rest = [part.strip() for part in text.split(";")]
    pairs = (part.partition("=") for part in rest)
    return media.lower(), {name.strip(): value.strip().strip('"') for name, _, value in pairs}


def _weight(said: dict[str, str]) -> float:
    try:
        return float(said.get("q", "1"))
    except ValueError:
        return 0.0


def _offered(media: str, said: dict[str, str], *, convertible: bool) -> Wanted | None:
    if media in {"*/*", "application/*", JSON}:
        media = JSON
    elif media in _YAML_NAMES:
        media = YAML
    else:
        return None
    target = said.get("as", "")
    pretty = said.get("pretty") in {"1", "true"}
    if not target:
        return Wanted(media, "", pretty)
    if said.get("g") != "meta.k8s.io" or said.get("v") != "v1" or not convertible:
        return None
    match target:
        case "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList":
            return Wanted(media, target, pretty)
    return None


def body_type(content_type: str) -> str:
    """What a body is written in: JSON, YAML or protobuf; no header means JSON.

    Raises:
        Refusal: 415 for everything else.
    """
    media = content_type.split(";", 1)[0].strip().lower()
    if media in {"", JSON}:
        return JSON
    if media in _YAML_NAMES:
        return YAML
    if media == PROTOBUF:
        return PROTOBUF
    raise unsupported_media_type(_ACCEPTED)


_decoder = msgspec.json.Decoder()


def decoded_body(raw: bytes, media: str, *, what: str) -> dict[str, Any]:
    """The JSON object in a body; `what` names the kind that was expected.

    Raises:
        Refusal: 400 for a body that is not one.
    """
    problem = ""
    found: object = None
    try:
        found = _read(raw, media)
    except (ValueError, RecursionError) as error:
        problem = f"couldn't get version/kind; json parse error: {_told(error)}"
    if isinstance(found, dict):
        return found
    if found is None and not problem:
        return {}  # null is an object of which nothing is said
    problem = problem or (
        "couldn't get version/kind; json parse error: json: cannot unmarshal "
        f"{sort_of(found)} into Go value of type {_TYPE_META}"
    )
    raise bad_request(
        f"the object provided is unrecognized (must be of type {what}): {problem} ({summary(raw)})"
    )


# How Go prints the type of which it reads kind and version.
_TYPE_META = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)


def _told(error: Exception) -> str:
    text = str(error) or "nested too deeply"
    return "unexpected end of JSON input" if text == "Input data was truncated" else text


def _read(raw: bytes, media: str) -> object:
    if media == JSON:
        return _decoder.decode(raw)
    if media == PROTOBUF:
        return from_protobuf(raw)
    from kubeloop.wire.yaml import load_document

    return load_document(raw)


def sort_of(value: object) -> str:
    """The word that errors use for what JSON has in a place."""
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
    return "number"


def summary(raw: bytes) -> str:
    """The beginning of a body, as an error shows it."""
    if not raw:
        return "<empty>"
    start = raw[:30]
    shown = start.decode(errors="replace") if raw[:1] == b"{" else start.hex()
    return f"{shown} ..." if len(raw) > len(start) else shown
