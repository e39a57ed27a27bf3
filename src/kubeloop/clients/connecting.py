"""From what a program says of its client to the REST client behind it.

Promises: nothing is read or connected here before a request needs it; numbers that make
no sense are refused when they are said.
Elsewhere: all that a REST client can be told (`kubeloop.rest`).
"""

from __future__ import annotations

import msgspec

from kubeloop.config import ClusterConfig
from kubeloop.kit import Clock, Limiter, SystemClock, TokenBucket
from kubeloop.machinery import InvalidValue
from kubeloop.rest import ResponseLimits, RESTClient, WarningHandler

__all__ = ["Connecting"]


class Connecting(msgspec.Struct, frozen=True, kw_only=True):
    """How a client without a REST client of its own comes to one; None is the usual."""

    config: ClusterConfig | None = None
    clock: Clock | None = None
    request_timeout: float | None = None
    rate_limit: float | Limiter | None = None
    response_limits: ResponseLimits | None = None
    warnings: WarningHandler | None = None

    def __post_init__(self) -> None:
        numbers = {"request_timeout": self.request_timeout, "rate_limit": self.rate_limit}
        for name, value in numbers.items():
            if isinstance(value, int | float) and not value > 0:
                raise InvalidValue(f"client: {name}={value!r}: more than 0 is needed")

    @property
    def says_nothing(self) -> bool:
        return self == Connecting()

    def open(self) -> RESTClient:
        """Raises: ConfigError when no configuration was given and none can be found."""
        clock = self.clock or SystemClock()
        config = self.config or ClusterConfig.load()
        if self.request_timeout is not None:
            config = msgspec.structs.replace(config, timeout=self.request_timeout)
        limiter = _limiter(self.rate_limit, clock)
        return RESTClient(
            config,
            clock=clock,
            limiter=limiter,
            response_limits=self.response_limits or ResponseLimits(),
            warnings=self.warnings,
        )


def _limiter(limit: float | Limiter | None, clock: Clock) -> Limiter | None:
    """A bucket with room for two seconds, the proportion of client-go's own numbers."""
    if isinstance(limit, int | float):
        return TokenBucket(limit, max(1, round(2 * limit)), clock=clock)
    return limit
