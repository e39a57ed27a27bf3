"""Asks an installed kubeloop whether it is all there; runs inside the environments of `smoke`.

    python -I tools/smoke_inside.py            # what everybody gets
    python -I tools/smoke_inside.py --server   # and the server of the testing extra

Promises: imports the standard library and the installed package, and nothing that stands
beside this file; whatever is not as it should be ends it with a traceback.
"""

from __future__ import annotations

import asyncio
import pkgutil
import sys
from collections.abc import Iterator
from importlib import import_module, metadata
from pathlib import Path

import kubeloop

__all__ = ["package", "server"]


def package() -> None:
    """What everybody gets."""
    home = Path(kubeloop.__file__).parent
    assert home.is_relative_to(sys.prefix), f"{home} is not in {sys.prefix}"
    assert (home / "py.typed").is_file()
    check_metadata()
    for name in rooms():
        room = import_module(name)
        for public in room.__all__:
            assert hasattr(room, public), f"{name} has no {public}"
    for name in group_versions():
        assert import_module(name).__all__, f"{name} is empty"


def check_metadata() -> None:
    """What the index shows of it."""
    said = metadata.metadata("kubeloop")
    assert said["Version"] == kubeloop.__version__
    assert said["License-Expression"] == "Apache-2.0"
    assert said["Requires-Python"] == ">=3.11"
    assert said["Description-Content-Type"] == "text/markdown"
    minor = f"Programming Language :: Python :: {sys.version_info[0]}.{sys.version_info[1]}"
    assert minor in said.get_all("Classifier", []), f"not said to run here: {minor}"
    scripts = {entry.group: entry.name for entry in metadata.distribution("kubeloop").entry_points}
    assert scripts == {"console_scripts": "kubeloop", "pytest11": "kubeloop"}
    needed = [each for each in metadata.requires("kubeloop") or () if "extra ==" not in each]
    assert len(needed) == 4, f"the core has four dependencies, not {needed}"


def rooms() -> Iterator[str]:
    yield "kubeloop"
    yield from (each for each, is_package in _below("kubeloop") if is_package)


def group_versions() -> Iterator[str]:
    """The modules of the API's kinds."""
    for group, is_package in _below("kubeloop.wire"):
        if is_package:
            yield from (each for each, _ in _below(group))


def _below(name: str) -> list[tuple[str, bool]]:
    found = pkgutil.iter_modules(import_module(name).__path__)
    return [(f"{name}.{each.name}", each.ispkg) for each in found if each.name[0] != "_"]


async def server() -> None:
    """What tests and the command line stand on: the server in the box answers."""
    from kubeloop.testing import APIServer
    from kubeloop.wire.core.v1 import ConfigMap
    from kubeloop.wire.meta.v1 import ObjectMeta

    async with APIServer(tls=True) as running:
        settings = running.client().core_v1.config_maps("default")
        await settings.create(ConfigMap(metadata=ObjectMeta(name="settings")))
        assert [each.metadata.name for each in await settings.list()] == ["settings"]


if __name__ == "__main__":
    package()
    if "--server" in sys.argv:
        asyncio.run(server())
