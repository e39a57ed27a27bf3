"""The blocking forms of programs in containers and of connections to ports.

Guarantees: as the async ones; a call that is interrupted is cancelled before it raises.
See also: `kubeloop.streams` (what the methods do).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Self, final

from .reference import LoopReference
from .stream import Stream

if TYPE_CHECKING:
    from kubeloop import streams

__all__ = ["PortConnection", "Process", "ProcessInput", "ProcessOutput"]


@final
class Process:
    """The blocking form of `kubeloop.streams.Process`.

    Its streams may be used by several threads, one for each stream.
    """

    def __init__(self, reference: LoopReference[streams.Process]) -> None:
        self._reference = reference
        self.stdout = ProcessOutput(reference.then(lambda wrapped: wrapped.stdout))
        self.stderr = ProcessOutput(reference.then(lambda wrapped: wrapped.stderr))

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    @property
    def stdin(self) -> ProcessInput:
        """The input of the program. Raises: InvalidArgument if it was opened without `stdin`."""
        self._reference.read(lambda wrapped: wrapped.stdin)
        return ProcessInput(self._reference.then(lambda wrapped: wrapped.stdin))

    def resize(self, columns: int, rows: int) -> None:
        """Report the size of the terminal. Raises: InvalidArgument without a terminal."""
        self._reference.call(lambda wrapped: wrapped.resize(columns, rows))

    def wait(self) -> int:
        """Wait for the end of the program; returns its exit code.

        Drops the output of a stream that was never read. Output of one that was read before has
        to be read to its end by another thread.
        Raises: ApiError when the program could not be started; StreamBroken.
        """
        return self._reference.call(lambda wrapped: wrapped.wait())


@final
class ProcessInput:
    """The blocking form of `kubeloop.streams.ProcessInput`."""

    def __init__(self, reference: LoopReference[streams.ProcessInput]) -> None:
        self._reference = reference

    def write(self, data: bytes | str) -> None:
        """Send data, text as UTF-8; waits while the program reads slowly.

        Raises: StreamBroken, TransportError.
        """
        self._reference.call(lambda wrapped: wrapped.write(data))

    def close(self) -> None:
        """End the input. Raises: UnsupportedByServer on v4.channel.k8s.io."""
        self._reference.call(lambda wrapped: wrapped.close())


@final
class ProcessOutput(Iterator[bytes]):
    """The blocking form of `kubeloop.streams.ProcessOutput`: chunks as they arrive."""

    def __init__(self, reference: LoopReference[streams.ProcessOutput]) -> None:
        self._reference = reference

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        """The next bytes. Raises: StreamBroken."""
        chunk = self._reference.call(lambda wrapped: anext(wrapped, b""))
        if not chunk:
            raise StopIteration
        return chunk

    def read(self) -> bytes:
        """All bytes to the end. Raises: ResponseTooLarge, StreamBroken."""
        return self._reference.call(lambda wrapped: wrapped.read())

    def lines(self) -> Stream[str]:
        """The lines, without their newlines; some are read ahead."""
        return self._reference.stream(lambda wrapped: wrapped.lines())


@final
class PortConnection(Iterator[bytes]):
    """The blocking form of `kubeloop.streams.PortConnection`."""

    def __init__(self, reference: LoopReference[streams.PortConnection]) -> None:
        self._reference = reference

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        """As `read`."""
        chunk = self.read()
        if not chunk:
            raise StopIteration
        return chunk

    def read(self) -> bytes:
        """The next bytes; empty when the pod has closed its side.

        Raises: PortForwardFailed when the pod reported an error; StreamBroken.
        """
        return self._reference.call(lambda wrapped: wrapped.read())

    def write(self, data: bytes) -> None:
        """Send bytes; waits while the pod reads slowly. Raises: PortForwardFailed, StreamBroken."""
        self._reference.call(lambda wrapped: wrapped.write(data))

    def write_eof(self) -> None:
        """Close the sending direction. Raises: UnsupportedByServer on v4.channel.k8s.io."""
        self._reference.call(lambda wrapped: wrapped.write_eof())
