"""Keeps tests on their server: a default configuration for another server is an error.

`KUBELOOP_TEST_SERVER` is the address of the server that a test uses; the pytest plugin sets it,
and programs that a test starts inherit it. In the process of the test the address is also stored
here, because tests clear the environment. It is checked only for the default configuration: a
kubeconfig, a context or a server that the caller selects is used.

See also: `kubeloop_testing.environment` (sets the variable).
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
"""The value before the server has started."""

# The server of the test that runs in this process; empty outside of such a test.
_test_server: list[str] = []


def keep_to_test_server(server: str | None) -> str | None:
    """Allow only this server as the default of this process, whatever the environment is.

    None ends that. Returns the previous server.
    """
    before = _test_server[0] if _test_server else None
    _test_server[:] = [] if server is None else [server]
    return before


def stay_on_test_server(server: str, environ: Mapping[str, str] | None = None) -> None:
    """Check that a default configuration uses the server of the running test.

    Raises: ConfigError.
    """
    if environ is None:
        allowed = _test_server[0] if _test_server else os.environ.get(TEST_SERVER_VARIABLE)
    else:
        allowed = environ.get(TEST_SERVER_VARIABLE)
    if not allowed or _host_and_port(server) == _host_and_port(allowed):
        return
    running = f"is {redacted_url(allowed)}" if allowed != NOT_STARTED else "has not started yet"
    raise ConfigError(
        f"the default configuration leads to {redacted_url(server)}, but this test uses a kube_*"
        f" fixture, whose server {running} (use the fixture kube_config; for"
        " another cluster, pass its kubeconfig or context: ClusterConfig.load(path))"
    )


def _host_and_port(url: str) -> tuple[str | None, int | None]:
    """Host and port, without the scheme: in-cluster it is always https."""
    parts = urlsplit(url if "://" in url else f"//{url}")
    try:
        return parts.hostname, parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError:  # invalid port
        return parts.hostname, None
