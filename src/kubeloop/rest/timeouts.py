"""How long anything may take, each kind of waiting under a name of its own.

Promises: none is infinite unless somebody wrote `None`; no default of a library stands
in for any of them.
Elsewhere: the life of a watch (`watch`), the wait before a retry (`retry`).
"""

from __future__ import annotations

import msgspec

from kubeloop.errors import InvalidArgument

__all__ = ["DEFAULT_TIMEOUTS", "Timeouts"]


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds for each kind of waiting; None is no bound at all.

    slot: for an in-flight slot, while as many calls as the client allows are under way;
        nothing has been sent then.
    connect: a new connection: the name looked up, TCP and the TLS handshake.
    answer: from the request to the first line of the answer; the server itself gives
        up after a minute and says so, which is worth waiting for.
    idle: the longest silence inside an answer; bookmarks, one a minute, break that of
        a watch.
    probe_after: the silence of a watch after which the client asks the server for a sign of
        life (`GET /livez`, on another connection), and again each time it lasts so long. The
        watch ends if no response comes within 15 s. None sends no probes. Logs and other
        streams are not probed.
    whole: a call of `send` with all its retries; streams and watches have no such end.
    """

    slot: float | None = 120.0
    connect: float | None = 30.0
    answer: float | None = 70.0
    idle: float | None = 150.0
    probe_after: float | None = 30.0
    whole: float | None = 600.0

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            seconds = getattr(self, name)
            if seconds is not None and not seconds > 0:
                raise InvalidArgument(
                    f"timeout {name}={seconds!r}: the seconds must be more than 0"
                    " (None is no bound)"
                )


DEFAULT_TIMEOUTS = Timeouts()
