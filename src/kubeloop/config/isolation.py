"""Keeps tests on their own server: a default configuration that leaves it is refused.

`KUBELOOP_TEST_SERVER` holds the address of the server that a test uses; the pytest plugin sets
it, and programs that a test starts inherit it. In the test's own process the address is kept
beside the environment as well, because tests clear that. It matters only where nobody chose a
cluster: a kubeconfig, a context or a server that is named by the caller is used as it is.

See also: who sets the variable (`kubeloop.testing.environment`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from .errors import ConfigError
from .redaction import redacted_url

__all__ = ["NOT_STARTED", "TEST_SERVER_VARIABLE", "keep_to_test_server", "stay_on_test_server"]

TEST_SERVER_VARIABLE = "KUBELOOP_TEST_SERVER"
NOT_STARTED = "http://not-started.invalid"
"""The value while the server is still to come."""

# The server of the test that runs in this process; empty outside of such a test.
_kept: list[str] = []


def keep_to_test_server(server: str | None) -> str | None:
    """Allow only this server as a default of this process, whatever its environment says.

    None ends that. Returns the server that was kept to before.
    """
    before = _kept[0] if _kept else None
    _kept[:] = [] if server is None else [server]
    return before


def stay_on_test_server(server: str, environ: Mapping[str, str] | None = None) -> None:
    """Refuse a server that nobody chose while a test uses another one.

    Raises: ConfigError.
    """
    if environ is None:
        allowed = _kept[0] if _kept else os.environ.get(TEST_SERVER_VARIABLE)
    else:
        allowed = environ.get(TEST_SERVER_VARIABLE)
    if not allowed or _place(server) == _place(allowed):
        return
    running = f"is {redacted_url(allowed)}" if allowed != NOT_STARTED else "has not started yet"
    raise ConfigError(
        f"the default configuration leads to {redacted_url(server)}, but this test uses a kube_*"
        f" fixture, whose server {running} (use the fixture kube_config; for"
        " another cluster, name its kubeconfig or context: ClusterConfig.load(path))"
    )


def _place(url: str) -> tuple[str | None, int | None]:
    """Host and port, without the scheme: the account of a pod always says https."""
    parts = urlsplit(url if "://" in url else f"//{url}")
    try:
        return parts.hostname, parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError:  # no port
        return parts.hostname, None
