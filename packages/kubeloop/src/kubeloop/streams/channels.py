"""Channels in the messages of a WebSocket: stdin, stdout, stderr, errors and terminal sizes.

The first byte of a message is its channel. `v5.channel.k8s.io` can close a channel,
`v4.channel.k8s.io` cannot. The error channel has one `Status`: success, or the exit code.

Guarantees: pure; a message or a status that breaks the protocol is a `DecodeError`.
See also: `process` (programs).
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from kubeloop.errors import DecodeError, api_error
from kubeloop.wire import decode
from kubeloop.wire.meta.v1 import Status

__all__ = [
    "ERROR",
    "RESIZE",
    "STDERR",
    "STDIN",
    "STDOUT",
    "V4",
    "V5",
    "ChannelMessage",
    "close_message",
    "parse_message",
    "read_exit_code",
    "resize_message",
]

V4 = "v4.channel.k8s.io"
V5 = "v5.channel.k8s.io"

STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255


class ChannelMessage(NamedTuple):
    """Data of a channel; with `is_end`, the channel was closed."""

    channel: int
    data: bytes
    is_end: bool


def parse_message(message: bytes | str) -> ChannelMessage:
    """The channel and the data of a message. Raises: DecodeError."""
    if isinstance(message, str):
        raise DecodeError("received a text message, expected a channel and bytes")
    if not message:
        raise DecodeError("received an empty message, expected a channel and bytes")
    channel = message[0]
    if channel == CLOSE:
        if len(message) != 2:
            raise DecodeError(f"received a close message of {len(message)} bytes, expected 2")
        return ChannelMessage(message[1], b"", is_end=True)
    return ChannelMessage(channel, message[1:], is_end=False)


def close_message(channel: int) -> bytes:
    """The message that closes a channel, in v5."""
    return bytes((CLOSE, channel))


def resize_message(columns: int, rows: int) -> bytes:
    """The message with a size of the terminal."""
    return bytes((RESIZE,)) + msgspec.json.encode({"Width": columns, "Height": rows})


def read_exit_code(action: str, data: bytes) -> int:
    """The exit code in what the error channel had.

    Raises: ApiError when the command was not executed; DecodeError when it is not a status.
    """
    if not data:
        return 0
    try:
        status = decode(Status, data)
    except DecodeError as error:
        raise DecodeError(f"{action}: the result is not a Status: {data[:200]!r}") from error
    if status.status == "Success":
        return 0
    if status.status != "Failure":
        raise DecodeError(f"{action}: the result has the unknown status {status.status!r:.40}")
    if status.reason != "NonZeroExitCode":
        raise api_error(action, status)
    causes = status.details.causes if status.details else []
    text = next((each.message for each in causes or () if each.reason == "ExitCode"), None)
    if text is None or not text.isascii() or not text.isdigit() or int(text) > 255:
        raise DecodeError(f"{action}: the command failed with the exit code {text!r:.40}")
    return int(text)
