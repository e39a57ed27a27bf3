"""Content negotiation: which response a client accepts, and what its body is encoded in.

Guarantees: pure; the first acceptable representation wins, by weight and then by order; an
unacceptable response is 406 and an unreadable body 415, and each lists the media types that
are possible.
See also: `representations.representation` (how an object is represented), `verbs.objects` (decoding
the object in a body).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, final

import msgspec

from kubeloop.wire import JsonObject
from kubeloop.wire.protobuf import PROTOBUF, from_protobuf

from ..statuses import bad_request, not_acceptable, unsupported_media_type
from ..values.json_values import whole_numbers

__all__ = [
    "JSON",
    "PAGE_NOT_FOUND",
    "PROTOBUF",
    "YAML",
    "MediaTypeOptions",
    "Response",
    "body_summary",
    "body_type",
    "decode_body",
    "json_type",
    "negotiate",
    "warning_headers",
]

JSON = "application/json"
YAML = "application/yaml"
# In the order of kube-apiserver's errors. Protobuf is read in bodies, but never written.
_ACCEPTED = (JSON, YAML, PROTOBUF)
_YAML_NAMES = frozenset({YAML, "application/x-yaml", "text/yaml"})

Target = Literal["", "PartialObjectMetadata", "PartialObjectMetadataList", "Table"]


@final
class MediaTypeOptions(msgspec.Struct, frozen=True):
    """The media type and the representation of a response."""

    media: str = JSON
    target: Target = ""


class Response(msgspec.Struct, frozen=True):
    """A whole response, ready to be sent."""

    code: int
    body: bytes
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    media: str = JSON
    warnings: tuple[str, ...] = ()


def warning_headers(warnings: Iterable[str]) -> list[tuple[str, str]]:
    """One header per warning: code 299, agent "-", as kube-apiserver writes them."""
    return [("Warning", f"299 - {_quoted(each)}") for each in warnings]


def _quoted(text: str) -> str:
    # Line breaks would end the header: warnings can contain text of users and webhooks.
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# For paths that no handler of kube-apiserver serves: plain text instead of a Status.
PAGE_NOT_FOUND = Response(404, b"404 page not found\n", media="text/plain; charset=utf-8")


@functools.lru_cache(maxsize=256)
def negotiate(accept: str) -> MediaTypeOptions:
    """The best representation that `accept` allows; without the header it is JSON.

    Cached: clients send few different headers.

    Raises:
        StatusError: 406 when no clause of it is possible.
    """
    if not accept:
        return MediaTypeOptions()
    for media, parameters in _by_weight(accept):
        found = _match(media, parameters)
        if found is not None:
            return found
    raise not_acceptable(_ACCEPTED)


def _by_weight(accept: str) -> Iterator[tuple[str, dict[str, str]]]:
    clauses = [_clause(text) for text in accept.split(",") if text.strip()]
    # Stable: clauses of equal weight keep the order of the client.
    clauses.sort(key=lambda clause: -_weight(clause[1]))
    return iter(clauses)


def _clause(text: str) -> tuple[str, dict[str, str]]:
    media, *rest = [part.strip() for part in text.split(";")]
    pairs = (part.partition("=") for part in rest)
    return media.lower(), {name.strip(): value.strip().strip('"') for name, _, value in pairs}


def _weight(parameters: dict[str, str]) -> float:
    try:
        return float(parameters.get("q", "1"))
    except ValueError:
        return 0.0  # an invalid weight is the last choice


def _match(media: str, parameters: dict[str, str]) -> MediaTypeOptions | None:
    if media in {"*/*", "application/*", JSON}:
        media = JSON
    elif media in _YAML_NAMES:
        media = YAML
    else:
        return None
    target = parameters.get("as", "")
    if not target:
        return MediaTypeOptions(media)
    # v1beta1 of Table and PartialObjectMetadata is not served: the next clause is tried.
    if parameters.get("g") != "meta.k8s.io" or parameters.get("v") != "v1":
        return None
    match target:
        case "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList":
            return MediaTypeOptions(media, target)
    return None


@functools.lru_cache(maxsize=256)
def body_type(content_type: str) -> str:
    """The media type of a body: JSON, YAML or protobuf; no header means JSON.

    Raises:
        StatusError: 415 for all others.
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


def decode_body(raw: bytes, media: str, *, kind: str) -> JsonObject:
    """The JSON object in a body; `kind` is the expected kind, for the error.

    Raises:
        StatusError: 400 for a body that is no object.
    """
    problem = ""
    found: object = None
    try:
        found = _decoder.decode(raw) if media == JSON else _decode_other(raw, media)
    except (ValueError, RecursionError) as error:
        problem = f"couldn't get version/kind; json parse error: {_parse_error(error)}"
    if isinstance(found, dict):
        return found
    if found is None and not problem:
        return {}  # Go decodes null into an empty object
    problem = problem or (
        "couldn't get version/kind; json parse error: json: cannot unmarshal "
        f"{json_type(found)} into Go value of type {_TYPE_META}"
    )
    raise bad_request(
        f"the object provided is unrecognized (must be of type {kind}): {problem} "
        f"({body_summary(raw)})"
    )


# How Go prints the anonymous struct into which apimachinery decodes kind and apiVersion.
_TYPE_META = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)


def _parse_error(error: Exception) -> str:
    # The one message of msgspec that clients are likely to meet, in the words of encoding/json.
    text = str(error) or "nested too deeply"
    return "unexpected end of JSON input" if text == "Input data was truncated" else text


def _decode_other(raw: bytes, media: str) -> object:
    if media == PROTOBUF:
        return from_protobuf(raw)
    from kubeloop.wire.yaml import load_documents

    # sigs.k8s.io/yaml reads the first document, and nothing as null.
    documents = load_documents(raw)
    return whole_numbers(documents[0]) if documents else None


def json_type(value: object) -> str:
    """The type of a JSON value as encoding/json's errors name it."""
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


def body_summary(raw: bytes) -> str:
    """The beginning of a body, as kube-apiserver's errors quote it."""
    if not raw:
        return "<empty>"
    start = raw[:30]
    text = start.decode(errors="replace") if raw[:1] == b"{" else start.hex()
    return f"{text} ..." if len(raw) > len(start) else text
