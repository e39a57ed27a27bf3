"""Checks an installed distribution; runs inside the environments of `smoke`.

    python -I tools/smoke_inside.py kubeloop
    python -I tools/smoke_inside.py kubeloop_testing --server   # and uses the embedded server

Guarantees: it imports only the standard library and the installed package; a failed check ends
it with a traceback.
"""

from __future__ import annotations

import asyncio
import pkgutil
import sys
from collections.abc import Iterator
from importlib import import_module, metadata
from pathlib import Path

__all__ = ["check_package", "check_server"]

ENTRY_POINTS = {
    "kubeloop": {},
    "kubeloop_cli": {"console_scripts": "kubeloop"},
    "kubeloop_testing": {"pytest11": "kubeloop"},
}
MOST_DEPENDENCIES = 5  # of the library, without extras


def check_package(root: str) -> None:
    """Check the files, the metadata and the public names."""
    module = import_module(root)
    assert module.__file__ is not None
    directory = Path(module.__file__).parent
    assert directory.is_relative_to(sys.prefix), f"{directory} is not in {sys.prefix}"
    assert (directory / "py.typed").is_file()
    check_metadata(root)
    for name in packages(root):
        package = import_module(name)
        for public in package.__all__:
            # The inspector is served, which needs an extra.
            assert name == "kubeloop.inspector" or hasattr(package, public), f"{name}.{public}"
    if root == "kubeloop":
        for name in group_versions():
            assert import_module(name).__all__, f"{name} is empty"
        installed = {each.metadata["Name"] for each in metadata.distributions()} - {"kubeloop"}
        assert len(installed) <= MOST_DEPENDENCIES, f"too many dependencies: {installed}"


def check_metadata(root: str) -> None:
    """Check the metadata of the distribution."""
    distribution = metadata.distribution(root)
    fields = distribution.metadata
    assert fields["Version"] == import_module(root).__version__
    assert fields["License-Expression"] == "Apache-2.0"
    assert fields["Requires-Python"] == ">=3.11"
    assert fields["Description-Content-Type"] == "text/markdown"
    minor = f"Programming Language :: Python :: {sys.version_info[0]}.{sys.version_info[1]}"
    assert minor in fields.get_all("Classifier", []), f"no classifier for this Python: {minor}"
    entries = {entry.group: entry.name for entry in distribution.entry_points}
    assert entries == ENTRY_POINTS[root], entries


def packages(root: str) -> Iterator[str]:
    yield root
    if root == "kubeloop":
        yield from (name for name, is_package in _children(root) if is_package)


def group_versions() -> Iterator[str]:
    """The modules of the models."""
    for group, is_package in _children("kubeloop.wire"):
        if is_package:
            yield from (name for name, _ in _children(group))


def _children(name: str) -> list[tuple[str, bool]]:
    modules = pkgutil.iter_modules(import_module(name).__path__)
    return [(f"{name}.{each.name}", each.ispkg) for each in modules if each.name[0] != "_"]


async def check_server() -> None:
    """Create and list an object on the embedded server."""
    from kubeloop.wire.core.v1 import ConfigMap
    from kubeloop.wire.meta.v1 import ObjectMeta
    from kubeloop_testing import APIServer

    async with APIServer(tls=True) as running:
        settings = running.client().core_v1.config_maps("default")
        await settings.create(ConfigMap(metadata=ObjectMeta(name="settings")))
        assert [each.metadata.name for each in await settings.list()] == ["settings"]


if __name__ == "__main__":
    check_package(sys.argv[1])
    if "--server" in sys.argv:
        asyncio.run(check_server())
