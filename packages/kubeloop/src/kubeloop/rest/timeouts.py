"""The timeouts of requests.

Guarantees: each is finite unless it is set to `None`; no default of a library applies.
See also: `watch` (the maximum duration of a watch), `retry` (the delay before a retry).
"""

from __future__ import annotations

import msgspec

from kubeloop.errors import InvalidArgument

__all__ = ["DEFAULT_TIMEOUTS", "Timeouts"]


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    """The timeouts of requests in seconds; None is no timeout.

    slot: the wait for an in-flight slot, if the client has no free one; nothing is sent before.
    connect: a new connection: DNS, TCP and the TLS handshake.
    response: from sending the request to the head of the response. kube-apiserver itself gives
        up after a minute and reports it, so that this should be longer.
    idle: the longest silence inside a response; a watch receives a bookmark every minute.
    probe_after: the silence of a watch after which the client probes the server (`GET /livez`,
        on another connection), and again each time it lasts so long. The watch ends if there is
        no response within 15 s. None sends no probes. Logs and other streams are not probed.
    total: a call of `send` with all its retries; streams and watches have no total.
    """

    slot: float | None = 120.0
    connect: float | None = 30.0
    response: float | None = 70.0
    idle: float | None = 150.0
    probe_after: float | None = 30.0
    total: float | None = 600.0

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            seconds = getattr(self, name)
            if seconds is not None and not seconds > 0:
                raise InvalidArgument(
                    f"timeout {name}={seconds!r}: it must be more than 0 s (None is no timeout)"
                )


DEFAULT_TIMEOUTS = Timeouts()
