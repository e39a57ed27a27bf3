"""Applies manifests to a server, for what must exist before a test begins."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kubeloop.clients import APIClient
from kubeloop.config import ClusterConfig

__all__ = ["MANAGER", "apply_files"]

MANAGER = "kubeloop-testing"  # the field manager


async def apply_files(config: ClusterConfig, manifests: Iterable[str | Path]) -> None:
    """Apply YAML files, namespaces and CRDs first. If cancelled, some may be applied."""
    files = tuple(manifests)
    if not files:
        return
    async with APIClient(config, field_manager=MANAGER) as client:
        for file in files:
            await client.apply(Path(file), force=True)
