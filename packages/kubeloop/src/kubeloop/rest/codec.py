"""How a `RESTClient` encodes and decodes bodies: media types, encode, decode, framing.

A codec decides the default `Accept` and `Content-Type` of requests, `Response.decode`, and how
the bytes of `RESTClient.watch` are split into events. It is not a switch for another format:
clients (`kubeloop.clients`) write JSON and read JSON or, if a request accepts it, protobuf, which
needs no codec; a client rejects a `RESTClient` with a codec for another format.
See also: `kubeloop.wire` (models), `frames` (events of a watch).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar, final

import msgspec

from kubeloop.errors import DecodeError, InvalidArgument
from kubeloop.wire import Model, RawEvent, decode, to_json

from .frames import FRAME_LIMIT, EventFrames
from .request import JSON

__all__ = ["Codec", "EventReader", "JsonCodec", "is_for_json", "media_type_of"]

T = TypeVar("T")


class EventReader(Protocol):
    """Splits the bytes of one watch into events."""

    def feed(self, chunk: bytes) -> list[RawEvent]:
        """The events that are complete now; those before a mistake are among them."""
        ...

    @property
    def mistake(self) -> DecodeError | None:
        """Why the bytes are not an event; nothing is read after it."""
        ...

    def close(self) -> bool:
        """The stream has ended; returns whether it ended between two events."""
        ...


class Codec(Protocol):
    """The format of a `RESTClient`, for requests that do not name one.

    For programs that use a `RESTClient` directly: a `Client` accepts only JSON.
    """

    content_type: str  # of request bodies; a codec decodes it as well
    accept: str  # of responses

    def reads(self, media_type: str) -> bool:
        """Whether bodies of this type can be decoded."""
        ...

    def encode(self, value: Any) -> bytes: ...
    def decode(self, type_: type[T], body: bytes) -> T: ...
    def events(self) -> EventReader: ...


@final
class JsonCodec:
    """JSON, which every server supports for every kind."""

    content_type = JSON
    accept = "application/json, */*"

    def __init__(self, *, event_limit: int | None = FRAME_LIMIT) -> None:
        self._encoder = msgspec.json.Encoder()
        self._event_limit = event_limit

    def reads(self, media_type: str) -> bool:
        return media_type == JSON or (
            media_type.startswith("application/") and media_type.endswith("+json")
        )

    def encode(self, value: Model | Mapping[str, Any] | Sequence[Any]) -> bytes:
        """A model or plain data as JSON.

        Raises:
            InvalidArgument: it cannot be encoded.
        """
        if isinstance(value, Model):
            return to_json(value)
        try:
            return self._encoder.encode(value)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidArgument(
                f"cannot encode a body of type {type(value).__name__} as JSON: {error}"
            ) from error

    # The body as a model, a partial struct, a `dict` or another type.
    decode = staticmethod(decode)

    def events(self) -> EventFrames:
        return EventFrames(limit=self._event_limit)


_JSON_RANGES = frozenset({JSON, "application/*", "*/*"})


def is_for_json(codec: Codec) -> bool:
    """Whether a codec writes JSON, and requests JSON objects or what the server prefers."""
    ranges = [each.split(";") for each in codec.accept.lower().split(",") if each.strip()]
    return codec.content_type == JSON and all(
        media_type.strip() in _JSON_RANGES
        # Not a table, and not metadata only.
        and not any(parameter.strip().startswith("as=") for parameter in parameters)
        for media_type, *parameters in ranges
    )


_SEPARATORS = frozenset('()<>@,;:\\"/[]?= \t')


def media_type_of(header: str) -> str:
    """The type in a Content-Type header, without its parameters; empty for an empty header.

    Raises:
        DecodeError: the header is malformed.
    """
    if header == JSON:
        return header
    found = header.partition(";")[0].strip().lower()
    main, slash, sub = found.partition("/")
    if not header.strip():
        return ""
    # Go accepts a single word as well, such as "text".
    words = (main, sub) if slash else (main,)
    if any(not word or not word.isascii() or _SEPARATORS & set(word) for word in words):
        raise DecodeError(f"Content-Type {header[:200]!r} is not a media type")
    return found
