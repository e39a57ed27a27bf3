"""A cluster that is already there, behind the interface of the servers of this room.

Promises: nothing is started and nothing is stopped; what tests leave there, they leave.
Elsewhere: servers that are started (`api_server`, `control_plane`).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self, final

import msgspec

from kubeloop.config import (
    ClusterConfig,
    Kubeconfig,
    flatten,
    load_kubeconfig,
    minify,
    write_kubeconfig,
)

from .loading import apply_files

__all__ = ["ExistingCluster"]


@final
class ExistingCluster:
    """The cluster of a kubeconfig context; without a name, of the current one.

    `manifests` are applied when the block begins, and stay. `environ` stands in for the
    process's environment.
    """

    def __init__(
        self,
        context: str = "",
        *,
        manifests: Iterable[str | Path] = (),
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._context = context
        # As it is now: while tests run, KUBECONFIG names a copy of this one context.
        self._environ = dict(os.environ if environ is None else environ)
        self._manifests = tuple(manifests)

    @property
    def url(self) -> str:
        """Where clients find the server."""
        return self.config.server

    @property
    def config(self) -> ClusterConfig:
        """What the kubeconfig says. Raises: ConfigError when there is no such context."""
        return ClusterConfig.load(context=self._context, environ=self._environ)

    def kubeconfig(self) -> str:
        """A kubeconfig of this one context, with everything in it, as text."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "kubeconfig")
            write_kubeconfig(flatten(minify(self._chosen())), path)
            return path.read_text(encoding="utf-8")

    async def load(self, *manifests: str | Path) -> None:
        """Apply YAML files: namespaces and CRDs first. Cancelled, some may be there."""
        await apply_files(self.config, manifests)

    def _chosen(self) -> Kubeconfig:
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
        """Nothing was started."""
