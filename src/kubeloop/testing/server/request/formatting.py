"""A JSON body as a client requests it: compact, indented, as YAML, or as protobuf.

Guarantees: pure; compact JSON ends with a newline and indented JSON does not, as in
kube-apiserver; YAML has its keys in alphabetical order.
See also: `negotiation` (what a client accepts).
"""

from __future__ import annotations

from urllib.parse import parse_qsl

import msgspec

from kubeloop.wire.protobuf_writing import to_protobuf

from ..values.deep_json import is_deep
from .negotiation import PROTOBUF, YAML, MediaTypeOptions

__all__ = ["format_body", "indent", "is_pretty"]

# negotiation.isPrettyPrint: command line tools and browsers.
_READ_BY_HUMANS = ("curl", "Wget", "Mozilla/5.0")
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})


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
