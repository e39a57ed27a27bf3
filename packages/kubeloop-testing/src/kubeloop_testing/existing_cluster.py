"""A running cluster behind the same interface as the servers of this package.

Guarantees: starts and stops nothing; objects that tests leave behind stay.
See also: servers that are started for a test (`api_server`, `control_plane`).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, final

import msgspec

from kubeloop.config import (
    ClusterConfig,
    Kubeconfig,
    flatten,
    load_kubeconfig,
    minify,
    write_kubeconfig,
)

from .manifests import apply_files

__all__ = ["ExistingCluster", "Server"]


class Server(Protocol):
    """The server of a test: the type of `kube_server` and `kube_session_server`.

    `APIServer`, `ControlPlane` and the cluster of a kubeconfig context have it in common.
    """

    @property
    def url(self) -> str:
        """The base URL, without a trailing slash."""
        ...

    @property
    def config(self) -> ClusterConfig:
        """The configuration of the administrator."""
        ...

    def kubeconfig(self) -> str:
        """A self-contained kubeconfig of the administrator, as text."""
        ...

    async def load(self, *manifests: str | Path) -> None:
        """Apply YAML files, namespaces and CRDs first. If cancelled, some may be applied."""
        ...


@final
class ExistingCluster:
    """The cluster of a kubeconfig context; without a name, of the current one.

    `manifests` are applied when the block begins, and stay. `environ` replaces `os.environ`.
    """

    def __init__(
        self,
        context: str = "",
        *,
        manifests: Iterable[str | Path] = (),
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._context = context
        # A copy, because `plugin` changes KUBECONFIG while tests run.
        self._environ = dict(os.environ if environ is None else environ)
        self._manifests = tuple(manifests)

    @property
    def url(self) -> str:
        """The base URL."""
        return self.config.server

    @property
    def config(self) -> ClusterConfig:
        """The configuration of the context. Raises: ConfigError when there is no such context."""
        return ClusterConfig.load(context=self._context, environ=self._environ)

    def kubeconfig(self) -> str:
        """A self-contained kubeconfig of this one context, as text."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "kubeconfig")
            write_kubeconfig(flatten(minify(self._selected())), path)
            return path.read_text(encoding="utf-8")

    async def load(self, *manifests: str | Path) -> None:
        """Apply YAML files, namespaces and CRDs first. If cancelled, some may be applied."""
        await apply_files(self.config, manifests)

    def _selected(self) -> Kubeconfig:
        config = load_kubeconfig(environ=self._environ)
        return msgspec.structs.replace(
            config, current_context=self._context or config.current_context
        )

    async def __aenter__(self) -> Self:
        await self.load(*self._manifests)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Do nothing: the cluster was not started here."""
