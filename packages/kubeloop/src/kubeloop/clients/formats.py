"""The format in which a client reads objects: JSON, or protobuf where it can.

Guarantees: writes and their responses are JSON; a resource that cannot be read as protobuf is read
as JSON from then on, which is logged once and is in `Client.stats()`. No object ever loses a field:
one that has fields newer than our models is read again as JSON before the caller gets it.
See also: `kubeloop.wire.protobuf_codec` (decoding), `object_codecs` (which kinds have protobuf).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar, final

from kubeloop.errors import InvalidArgument, KubeError, NotAcceptable, UnsupportedMediaType
from kubeloop.wire import get_logger
from kubeloop.wire.protobuf_messages import ReadFormat

__all__ = ["ReadFormat", "ReadFormats", "is_refusal"]

log = get_logger(__name__)

T = TypeVar("T")


@final
class ReadFormats:
    """The format of one client, and the resources that are read as JSON nevertheless."""

    def __init__(self, preference: ReadFormat | None = None) -> None:
        if preference not in {None, "json", "protobuf"}:
            raise InvalidArgument(f"format={preference!r}: expected 'json' or 'protobuf'")
        self.preference = preference
        self._json_only: dict[str, None] = {}  # in the order of their events

    @property
    def json_only(self) -> tuple[str, ...]:
        return tuple(self._json_only)

    def uses_protobuf(self, resource: str) -> bool:
        """Whether to request protobuf for a resource that has it."""
        return self.preference == "protobuf" and resource not in self._json_only

    def switch_to_json(self, resource: str, error: KubeError) -> None:
        """Read a resource as JSON from now on."""
        if resource not in self._json_only:
            self.note_json(resource)
            log.warning("%s are read as JSON from now on, not as protobuf: %s", resource, error)

    def note_json(self, resource: str) -> None:
        """As `switch_to_json`, for an informer, which has logged the error. Thread-safe."""
        self._json_only[resource] = None

    async def read(
        self,
        resource: str,
        accepts: tuple[str, str],
        attempt: Callable[[str], Awaitable[T]],
    ) -> T:
        """The result of `attempt`, which is called with an `Accept` header.

        `accepts` are the headers for protobuf, empty if there is none, and for JSON. What is
        refused or has unknown fields as protobuf is read again as JSON. Safe to cancel.
        """
        protobuf, json = accepts
        if not protobuf or not self.uses_protobuf(resource):
            return await attempt(json)
        try:
            return await attempt(protobuf)
        except KubeError as error:
            if not is_refusal(error):
                raise
            self.switch_to_json(resource, error)
        return await attempt(json)


def is_refusal(error: KubeError) -> bool:
    """Whether JSON can have what protobuf has not."""
    if isinstance(error, NotAcceptable | UnsupportedMediaType):
        return True
    from kubeloop.wire.protobuf_codec import UnknownFields

    return isinstance(error, UnknownFields)
