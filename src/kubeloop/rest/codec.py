"""How a `RESTClient` turns values into bytes and back: media types, encode, decode, framing.

A codec decides the default `Accept` and `Content-Type` of requests, `Answer.decode`, and how
the bytes of `RESTClient.watch` are cut into events, whose objects are JSON in any case. It is
not a switch for another format: clients (`kubeloop.clients`), lists and informers read and
write JSON, and a client refuses a `RESTClient` with a codec for anything else.
Elsewhere: the models' own reading and writing (`kubeloop.wire`), JSON's frames (`frames`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar, final

import msgspec

from kubeloop.errors import DecodeError, InvalidArgument
from kubeloop.wire import Model, RawEvent, decode

from .frames import FRAME_LIMIT, EventFrames
from .request import JSON

__all__ = ["Codec", "EventReader", "JsonCodec", "media_type_of"]

T = TypeVar("T")


class EventReader(Protocol):
    """Cuts the bytes of one watch into events."""

    def feed(self, chunk: bytes) -> list[RawEvent]:
        """The events that are complete now; those before a mistake are among them."""
        ...

    @property
    def mistake(self) -> DecodeError | None:
        """What came that is no event; nothing is read behind it."""
        ...

    def close(self) -> bool:
        """The stream has ended; says whether it ended between two events."""
        ...


class Codec(Protocol):
    """What a `RESTClient` sends, asks for and decodes where a request does not say it.

    For programs that use a `RESTClient` by itself: a `Client` takes only one that speaks JSON.
    """

    content_type: str  # of bodies that are sent
    accept: str  # what is asked for

    def reads(self, media_type: str) -> bool:
        """Whether bodies of this type can be decoded."""
        ...

    def encode(self, value: Any) -> bytes: ...
    def decode(self, type_: type[T], body: bytes) -> T: ...
    def events(self) -> EventReader: ...


@final
class JsonCodec:
    """JSON, which every server speaks for every kind."""

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
        """A model, or plain data, as it is sent.

        Raises:
            InvalidArgument: JSON cannot say it.
        """
        if isinstance(value, Model):
            return value.to_json()
        try:
            return self._encoder.encode(value)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidArgument(
                f"a body of type {type(value).__name__} cannot be sent as JSON: {error}"
            ) from error

    def decode(self, type_: type[T], body: bytes) -> T:
        """The body as a model, a view, `dict`, or anything else that JSON can be read as."""
        return decode(type_, body)

    def events(self) -> EventFrames:
        return EventFrames(limit=self._event_limit)


_SEPARATORS = frozenset('()<>@,;:\\"/[]?= \t')


def media_type_of(header: str) -> str:
    """The type in a Content-Type header, without its parameters; empty for an empty header.

    Raises:
        DecodeError: the header is none.
    """
    if header == JSON:
        return header
    found = header.partition(";")[0].strip().lower()
    main, slash, sub = found.partition("/")
    if not header.strip():
        return ""
    # Go lets a single word pass as well, such as "text".
    words = (main, sub) if slash else (main,)
    if any(not word or not word.isascii() or _SEPARATORS & set(word) for word in words):
        raise DecodeError(f"Content-Type {header[:200]!r} is not a media type")
    return found
