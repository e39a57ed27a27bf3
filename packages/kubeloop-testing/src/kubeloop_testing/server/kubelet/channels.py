"""Channels of exec, attach and port-forward in WebSocket messages, as of a kubelet.

The first byte of a message is the number of its channel; with the base64 subprotocols it is a
digit, and the rest is base64. Only `v5.channel.k8s.io` can end a channel.

Guarantees: pure; a subprotocol is chosen as by kube-apiserver and kubelet; a message that is not
valid is ignored where a kubelet ignores it, and ends the connection where it does that.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, final

import msgspec

__all__ = [
    "ERROR",
    "RESIZE",
    "STDERR",
    "STDIN",
    "STDOUT",
    "TUNNEL",
    "BadMessage",
    "ChannelMessage",
    "Subprotocol",
    "choose_forward",
    "choose_remote_command",
]

STDIN: Final = 0
STDOUT: Final = 1
STDERR: Final = 2
ERROR: Final = 3
RESIZE: Final = 4
_CLOSE: Final = 255
_V5: Final = "v5.channel.k8s.io"
TUNNEL: Final = "SPDY/3.1+portforward.k8s.io"


class BadMessage(Exception):
    """A message after which a kubelet closes the connection."""


class ChannelMessage(NamedTuple):
    """What a client sent on a channel; `is_end` if it ended the channel."""

    channel: int
    data: bytes
    is_end: bool = False


@final
class Subprotocol(msgspec.Struct, frozen=True):
    """A subprotocol with channels."""

    name: str
    is_base64: bool = False
    has_json_status: bool = False
    can_close: bool = False

    def encode(self, channel: int, data: bytes) -> bytes | str:
        """The message for `data`; a text with base64."""
        if self.is_base64:
            return f"{channel}{base64.b64encode(data).decode()}"
        return bytes([channel]) + data

    def decode(self, message: bytes | str) -> ChannelMessage | None:
        """What a message says; None if it is ignored. Raises `BadMessage`."""
        raw = message.encode() if isinstance(message, str) else message
        if not raw:
            return None
        if self.can_close and raw[0] == _CLOSE:
            if len(raw) != 2:
                raise BadMessage("a close signal needs the number of one channel")
            return ChannelMessage(raw[1], b"", is_end=True)
        if not self.is_base64:
            return ChannelMessage(raw[0], raw[1:])
        try:
            return ChannelMessage(raw[0] - ord("0"), base64.b64decode(raw[1:], validate=True))
        except binascii.Error:
            return None


_V4: Final = (
    Subprotocol("v4.channel.k8s.io", has_json_status=True),
    Subprotocol("v4.base64.channel.k8s.io", is_base64=True, has_json_status=True),
)
_REMOTE_COMMAND: Final = (
    Subprotocol(""),
    Subprotocol("channel.k8s.io"),
    Subprotocol("base64.channel.k8s.io", is_base64=True),
    *_V4,
)
# The kubelet has no `portforward.k8s.io` over WebSockets; client libraries send it nevertheless.
_FORWARD: Final = (Subprotocol(""), Subprotocol("portforward.k8s.io"), *_V4)


def choose_remote_command(offered: Sequence[str]) -> Subprotocol | None:
    """The subprotocol for exec and attach; None if none of those offered is known."""
    if _V5 in offered:  # kube-apiserver takes such a request for itself
        return Subprotocol(_V5, has_json_status=True, can_close=True)
    return _first(offered, _REMOTE_COMMAND)


def choose_forward(offered: Sequence[str]) -> Subprotocol | None:
    """The subprotocol for port-forward with channels; the tunnel comes before it."""
    return _first(offered, _FORWARD)


def _first(offered: Sequence[str], known: Iterable[Subprotocol]) -> Subprotocol | None:
    by_name = {each.name: each for each in known}
    return next((by_name[name] for name in offered or [""] if name in by_name), None)
