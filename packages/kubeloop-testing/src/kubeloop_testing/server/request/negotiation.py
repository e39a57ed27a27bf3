"""Content negotiation: which response a client accepts, and what its body is encoded in.

Two steps, as in kube-apiserver. The route of a built-in resource compares media types without
their parameters (`check_route`, go-restful's part); then the handler finds the representation
(`negotiate`, apiserver's part). Custom resources have no routes, only handlers.

Guarantees: pure; the first acceptable representation wins, by weight and then by order; an
unacceptable response is 406 and an unreadable body 415, and each lists the media types that
are possible. Compact JSON ends with a newline and indented JSON does not, as in kube-apiserver.
See also: `representations.representation` (how an object is represented), `verbs.objects` (decoding
the object in a body).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, final
from urllib.parse import parse_qsl

import msgspec

from kubeloop.wire import JsonObject
from kubeloop.wire.protobuf import PROTOBUF, from_protobuf
from kubeloop.wire.protobuf_writing import to_protobuf

from ..statuses import (
    bad_request,
    no_route_produces,
    not_acceptable,
    unsupported_media_type,
)
from ..values.deep_json import MAX_DEPTH, TooDeep, decode, is_deep
from ..values.go_json import struct_error, syntax_error
from ..values.json_values import whole_numbers

__all__ = [
    "JSON",
    "PAGE_NOT_FOUND",
    "PLAIN_TEXT",
    "PROTOBUF",
    "YAML",
    "MediaTypeOptions",
    "Response",
    "Target",
    "body_summary",
    "body_type",
    "check_route",
    "decode_body",
    "decode_document",
    "format_body",
    "indent",
    "is_pretty",
    "negotiate",
    "negotiate_discovery",
    "negotiate_plain",
    "negotiate_watch",
    "warning_headers",
]

JSON = "application/json"
YAML = "application/yaml"
PLAIN_TEXT = "text/plain; charset=utf-8"
# In the order of kube-apiserver's errors. Objects of CRDs have no protobuf, only their metadata.
_FORMATS: Final = (JSON, YAML, PROTOBUF)
_STREAMS: Final = tuple(f"{media};stream=watch" for media in (JSON, PROTOBUF))
_ROUTED: Final = frozenset({"*/*", *_FORMATS})

Target = Literal["", "PartialObjectMetadata", "PartialObjectMetadataList", "Table"]


@final
class MediaTypeOptions(msgspec.Struct, frozen=True):
    """The media type and the representation of a response."""

    media: str = JSON
    target: Target = ""
    version: str = "v1"  # of the target: `v1` or `v1beta1` of meta.k8s.io
    pretty: bool = False  # whether the Accept header requests indentation


class Response(msgspec.Struct, frozen=True):
    """A whole response, ready to be sent.

    A body is compact JSON, which is formatted for the client, unless `is_final`.
    """

    code: int
    body: bytes
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    media: str = JSON
    warnings: tuple[str, ...] = ()
    is_final: bool = False  # whether `body` is sent as it is
    options: MediaTypeOptions | None = None  # what was negotiated, where it is not an object


def warning_headers(warnings: Iterable[str]) -> list[tuple[str, str]]:
    """One header per warning: code 299, agent "-", as kube-apiserver writes them."""
    return [("Warning", f"299 - {_quoted(each)}") for each in warnings]


def _quoted(text: str) -> str:
    # Line breaks would end the header: warnings can contain text of users and webhooks.
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# For paths that no handler of kube-apiserver serves: plain text instead of a Status.
PAGE_NOT_FOUND = Response(
    404,
    b"404 page not found\n",
    {"X-Content-Type-Options": "nosniff"},
    media=PLAIN_TEXT,
    is_final=True,
)


# --- Accept


@functools.lru_cache(maxsize=256)
def check_route(accept: str, *, listed: bool = False, only_json: bool = False) -> None:
    """Whether a route produces one of the media types; those of resources all but `only_json`.

    Raises:
        StatusError: 406 when it produces none.
    """
    # Route.matchesAccept: no weights, no parameters, and no `application/*`.
    routed = {"*/*", JSON} if only_json else _ROUTED
    if accept and not any(
        each.partition(";")[0].strip(" ") in routed for each in accept.split(",")
    ):
        streams = _STREAMS if listed else ()
        raise no_route_produces((JSON,) if only_json else (*_FORMATS, *streams))


@functools.lru_cache(maxsize=256)
def negotiate(accept: str, *, custom: bool = False) -> MediaTypeOptions:
    """The best representation of an object that `accept` allows; without the header it is JSON.

    Objects that are `custom` have no protobuf. Cached: clients send few different headers.

    Raises:
        StatusError: 406 when no clause of it is possible.
    """
    if not accept:
        return MediaTypeOptions()
    for media, parameters in _matches(accept):
        found = _representation(media, parameters, custom=custom)
        if found is not None:
            return found
    raise not_acceptable(_FORMATS)


@functools.lru_cache(maxsize=256)
def negotiate_plain(accept: str) -> MediaTypeOptions:
    """As `negotiate`, for what has one representation only: errors and discovery."""
    if not accept:
        return MediaTypeOptions()
    for media, parameters in _matches(accept):
        if not _TRANSFORMS & parameters.keys():
            return MediaTypeOptions(media, pretty=parameters.get("pretty") == "1")
    raise not_acceptable(_FORMATS)


def negotiate_watch(accept: str, *, custom: bool = False) -> MediaTypeOptions:
    """As `negotiate`, for the events of a watch, which are never YAML."""
    found = negotiate(accept, custom=custom)
    if found.media == YAML:
        raise not_acceptable(_STREAMS)
    return found


@functools.lru_cache(maxsize=256)
def negotiate_discovery(accept: str) -> MediaTypeOptions | None:
    """How a client accepts aggregated discovery; None if it does not.

    Any clause that names it wins over all others, whatever their weight.
    """
    for media, parameters in _matches(accept):
        is_aggregated = [parameters.get(key) for key in ("g", "v", "as")] == _AGGREGATED
        if is_aggregated and media != PROTOBUF:  # its types are not among the built-in kinds
            return MediaTypeOptions(media, pretty=parameters.get("pretty") == "1")
    return None


_TRANSFORMS: Final = frozenset({"as", "g", "v"})
_AGGREGATED: Final = ["apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList"]


def _matches(accept: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The media types that the server writes, in the client's order of preference."""
    clauses = [found for text in accept.split(",") if (found := _clause(text)) is not None]
    # Stable: clauses of equal weight keep the order of the client, wildcards are last.
    clauses.sort(key=lambda clause: (-_weight(clause[1]), clause[0].count("*")))
    for wanted, parameters in clauses:
        for media in _FORMATS:
            if wanted in {media, "application/*", "*/*"}:
                yield media, parameters


def _clause(text: str) -> tuple[str, dict[str, str]] | None:
    # goautoneg.ParseAccept: clauses that are no media type are ignored.
    media, *rest = text.split(";")
    kind, slash, subtype = (part.strip(" ") for part in media.partition("/"))
    if kind == "*" and not slash:
        slash, subtype = "/", "*"
    if not slash or not subtype or "/" in subtype:
        return None
    pairs = (part.partition("=") for part in rest)
    parameters = {
        name.strip(" "): value.strip(" ") for name, _, value in pairs if value and "=" not in value
    }
    return f"{kind}/{subtype}", parameters


def _weight(parameters: dict[str, str]) -> float:
    try:
        return float(parameters.get("q", "1"))
    except ValueError:
        return 0.0  # an invalid weight is the last choice


def _representation(
    media: str, parameters: dict[str, str], *, custom: bool
) -> MediaTypeOptions | None:
    # RequestScope.AllowsMediaTypeTransform.
    pretty = parameters.get("pretty") == "1"
    if not _TRANSFORMS & parameters.keys():
        if custom and media == PROTOBUF:
            return None
        return MediaTypeOptions(media, pretty=pretty)
    version = parameters.get("v", "")
    if parameters.get("g") != "meta.k8s.io" or version not in {"v1", "v1beta1"}:
        return None
    match parameters.get("as"):
        case "Table" if media == PROTOBUF:
            return None
        case "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList" as target:
            return MediaTypeOptions(media, target, version, pretty)
    return None


# --- bodies of requests


@functools.lru_cache(maxsize=256)
def body_type(content_type: str) -> str:
    """The media type of a body: JSON, YAML or protobuf; no header means JSON.

    Raises:
        StatusError: 415 for all others.
    """
    media = content_type.split(";", 1)[0].strip().lower()
    if not media:
        return JSON
    if media in _FORMATS:
        return media
    raise unsupported_media_type(_FORMATS)


def decode_document(raw: bytes, media: str) -> Any:
    """The JSON value in a text. Raises ValueError with the sentence of Go's decoder."""
    try:
        return decode(raw) if media == JSON else _decode_other(raw, media)
    except TooDeep:
        raise
    except (ValueError, RecursionError) as error:
        problem = syntax_error(raw) if media == JSON else _yaml_error(raw) if media == YAML else ""
        raise ValueError(problem or str(error)) from error


def decode_body(raw: bytes, media: str, *, kind: str = "") -> JsonObject:
    """The JSON object in a body; `kind` is the expected kind, for the error, if it names one.

    Raises:
        StatusError: 400 for a body that is no object.
    """
    problem = ""
    found: object = None
    try:
        found = decode_document(raw, media)
    except ValueError as error:
        problem = f"{error}" if media == YAML else f"{_PARSE_ERROR}: {error}"
    if isinstance(found, dict) and all(isinstance(found.get(n), str) for n in _TYPE_META_FIELDS):
        return found
    if not problem and (why := struct_error(found, _TYPE_META, _TYPE_META_FIELDS, name="")):
        problem = f"{_PARSE_ERROR}: {why}"
    if not problem:
        return found if isinstance(found, dict) else {}  # Go decodes null into an empty object
    if not kind:
        raise bad_request(problem)
    raise bad_request(
        f"the object provided is unrecognized (must be of type {kind}): {problem} "
        f"({body_summary(raw)})"
    )


_PARSE_ERROR = "couldn't get version/kind; json parse error"
# How Go prints the anonymous struct into which apimachinery decodes kind and apiVersion.
_TYPE_META = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)
_TYPE_META_FIELDS = {"apiVersion": "string", "kind": "string"}


def _yaml_error(raw: bytes) -> str:
    """The error of Go's YAML library, which is a port of libyaml as PyYAML's is a binding."""
    import yaml

    anchors: set[str | None] = set()
    try:
        # Events, because composing nodes is recursive in C, and a deep text would crash.
        for event in yaml.parse(raw, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(event, yaml.AliasEvent) and event.anchor not in anchors:
                return f"yaml: unknown anchor '{event.anchor}' referenced"
            anchors.add(getattr(event, "anchor", None))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        # Only the parser counts lines from 0.
        line += isinstance(error, yaml.scanner.ScannerError) and line > 0
        return f"yaml: line {line}: {error.problem}" if line else f"yaml: {error.problem}"
    except yaml.YAMLError as error:
        return f"yaml: {error}"
    return "yaml: invalid document"


def _decode_other(raw: bytes, media: str) -> object:
    if media == PROTOBUF:
        return from_protobuf(raw)
    if is_deep(raw) and (found := _deep_yaml(raw)) is not None:
        return found
    from kubeloop.wire.yaml import load_documents

    # sigs.k8s.io/yaml reads the first document, and nothing as null.
    documents = load_documents(raw)
    return whole_numbers(documents[0]) if documents else None


_DEEP_YAML: Final = f"yaml: exceeded max depth of {MAX_DEPTH}"


def _deep_yaml(raw: bytes) -> object:
    """The value of a deeply nested text that is JSON, too; None if it is not."""
    try:
        return whole_numbers(decode(raw))
    except TooDeep:
        raise TooDeep(_DEEP_YAML) from None
    except ValueError:
        return None


def body_summary(raw: bytes) -> str:
    """The beginning of a body, as kube-apiserver's errors quote it."""
    if not raw:
        return "<empty>"
    start = raw[:30]
    text = start.decode(errors="replace") if raw[:1] == b"{" else start.hex()
    return f"{text} ..." if len(raw) > len(start) else text


# --- the body of a response in the form that was negotiated

# negotiation.isPrettyPrint: command line tools and browsers.
_READ_BY_HUMANS: Final = ("curl", "Wget", "Mozilla/5.0")
_TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})


def is_pretty(raw_path: str, user_agent: str) -> bool:
    """Whether a request is answered with indented JSON; `?pretty=` decides, if it is there."""
    if "pretty" in raw_path:
        query = parse_qsl(raw_path.partition("?")[2])
        value = next((value for name, value in query if name == "pretty"), "")
        if value:
            return value in _TRUE
    return user_agent.startswith(_READ_BY_HUMANS)


def indent(body: bytes) -> bytes:
    """Compact JSON with two spaces for each level."""
    return body if is_deep(body) else msgspec.json.format(body, indent=2)


def format_body(body: bytes, options: MediaTypeOptions, *, pretty: bool) -> bytes:
    """Compact JSON in the form that was negotiated; `pretty` is that of `is_pretty`."""
    if options.media == PROTOBUF:
        return to_protobuf(msgspec.json.decode(body))
    if options.media == YAML and not is_deep(body):  # which is YAML as it is
        from kubeloop.wire.yaml import dump_document

        ordered = msgspec.json.encode(msgspec.json.decode(body), order="sorted")
        return dump_document(msgspec.json.decode(ordered)).encode()
    if pretty or options.pretty:
        return indent(body)
    return body + b"\n"
