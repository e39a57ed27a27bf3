"""The environment variables of a test that uses a server: they point at that server.

While such a test runs, `KUBECONFIG` names a kubeconfig of its server, the variables of a pod
(`KUBERNETES_SERVICE_HOST` and `..._PORT`) its address, and `KUBELOOP_TEST_SERVER` makes
`kubeloop.config` reject every default configuration of another server, in this process even after
the variable was cleared. Programs that the test starts inherit all of them.

Guarantees: set before the test's first fixture, restored after its last; a value that other code
has set meanwhile stays.
See also: the fixtures (`plugin`).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, final
from urllib.parse import urlsplit

__all__ = ["HasKubeconfig", "TestEnvironment"]

_NAMES = ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")


class HasKubeconfig(Protocol):
    """A server that the environment can point at."""

    @property
    def url(self) -> str: ...

    def kubeconfig(self) -> str: ...


@final
class TestEnvironment:
    """Changes `os.environ` for one test at a time."""

    __test__ = False  # pytest would collect it by its name

    def __init__(self) -> None:
        self._before: dict[str, str | None] = {}  # empty: no test that uses a server runs
        self._set: dict[str, set[str]] = {}  # every value that was set here, by name
        # The server of an outer test, if a test runs pytest in this process.
        self._outer_server: str | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None  # None: not begun

    @property
    def original(self) -> Mapping[str, str]:
        """The environment as it was before the test."""
        return {
            **{key: value for key, value in os.environ.items() if key not in self._before},
            **{key: value for key, value in self._before.items() if value is not None},
        }

    def begin(self) -> None:
        """Point at no server until `point_at` is called.

        Fixtures that run before the server's must not reach the developer's cluster.
        """
        from kubeloop.config.isolation import (
            NOT_STARTED,
            TEST_SERVER_VARIABLE,
            keep_to_test_server,
        )

        self._outer_server = keep_to_test_server(NOT_STARTED)
        self._folder = tempfile.TemporaryDirectory(prefix="kubeloop-")
        self._before = {name: os.environ.get(name) for name in (*_NAMES, TEST_SERVER_VARIABLE)}
        self._change(NOT_STARTED)

    def point_at(self, server: HasKubeconfig) -> None:
        """Point at this server for the rest of the test."""
        text, url = server.kubeconfig(), server.url
        if self._folder is None:  # the test called `request.getfixturevalue("kube_server")`
            self.begin()
        # Mode 0600, because it contains a token or a key.
        descriptor = os.open(self._kubeconfig, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        self._change(url)

    def end(self) -> None:
        """Restore the variables; idempotent."""
        if self._folder is not None:
            from kubeloop.config.isolation import keep_to_test_server

            keep_to_test_server(self._outer_server)
        folder, self._folder = self._folder, None
        before, self._before = self._before, {}
        for name, value in before.items():
            # A fixture that ended after ours, such as monkeypatch, may have restored an older
            # value of ours.
            if os.environ.get(name) not in self._set.get(name, set()):
                continue
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        if folder is not None:
            folder.cleanup()

    @property
    def _kubeconfig(self) -> Path:
        assert self._folder is not None  # made by `begin`
        return Path(self._folder.name, "kubeconfig")

    def _change(self, url: str) -> None:
        from kubeloop.config.isolation import TEST_SERVER_VARIABLE, keep_to_test_server

        keep_to_test_server(url)
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        values = (str(self._kubeconfig), str(parts.hostname), str(port), url)
        for name, value in zip((*_NAMES, TEST_SERVER_VARIABLE), values, strict=True):
            os.environ[name] = value
            self._set.setdefault(name, set()).add(value)
