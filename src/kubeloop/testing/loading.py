"""Manifests for a server: what a test wants to be there before it begins."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kubeloop.clients import APIClient
from kubeloop.config import ClusterConfig

__all__ = ["MANAGER", "apply_files"]

MANAGER = "kubeloop-testing"  # who owns what is loaded


async def apply_files(config: ClusterConfig, manifests: Iterable[str | Path]) -> None:
    """Apply YAML files, namespaces and CRDs first. Cancelled, some may be there."""
    files = tuple(manifests)
    if not files:
        return  # not even a client is made
    async with APIClient(config, field_manager=MANAGER) as client:
        for file in files:
            await client.apply(Path(file), force=True)
