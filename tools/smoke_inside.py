"""Checks an installed kubeloop; runs inside the environments of `smoke`.

    python -I tools/smoke_inside.py            # the package without extras
    python -I tools/smoke_inside.py --server   # and the embedded server of the testing extra

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

import kubeloop

__all__ = ["check_package", "check_server"]


def check_package() -> None:
    """Check the files, the metadata and the public names."""
    directory = Path(kubeloop.__file__).parent
    assert directory.is_relative_to(sys.prefix), f"{directory} is not in {sys.prefix}"
    assert (directory / "py.typed").is_file()
    check_metadata()
    for name in packages():
        package = import_module(name)
        for public in package.__all__:
            assert hasattr(package, public), f"{name} has no {public}"
    for name in group_versions():
        assert import_module(name).__all__, f"{name} is empty"


def check_metadata() -> None:
    """Check the metadata of the distribution."""
    fields = metadata.metadata("kubeloop")
    assert fields["Version"] == kubeloop.__version__
    assert fields["License-Expression"] == "Apache-2.0"
    assert fields["Requires-Python"] == ">=3.11"
    assert fields["Description-Content-Type"] == "text/markdown"
    minor = f"Programming Language :: Python :: {sys.version_info[0]}.{sys.version_info[1]}"
    assert minor in fields.get_all("Classifier", []), f"no classifier for this Python: {minor}"
    scripts = {entry.group: entry.name for entry in metadata.distribution("kubeloop").entry_points}
    assert scripts == {"console_scripts": "kubeloop", "pytest11": "kubeloop"}
    required = [each for each in metadata.requires("kubeloop") or () if "extra ==" not in each]
    assert len(required) == 6, f"expected six dependencies without extras, found {required}"


def packages() -> Iterator[str]:
    yield "kubeloop"
    yield from (each for each, is_package in _children("kubeloop") if is_package)


def group_versions() -> Iterator[str]:
    """The modules of the models."""
    for group, is_package in _children("kubeloop.wire"):
        if is_package:
            yield from (each for each, _ in _children(group))


def _children(name: str) -> list[tuple[str, bool]]:
    found = pkgutil.iter_modules(import_module(name).__path__)
    return [(f"{name}.{each.name}", each.ispkg) for each in found if each.name[0] != "_"]


async def check_server() -> None:
    """Create and list an object on the embedded server."""
    from kubeloop.testing import APIServer
    from kubeloop.wire.core.v1 import ConfigMap
    from kubeloop.wire.meta.v1 import ObjectMeta

    async with APIServer(tls=True) as running:
        settings = running.client().core_v1.config_maps("default")
        await settings.create(ConfigMap(metadata=ObjectMeta(name="settings")))
        assert [each.metadata.name for each in await settings.list()] == ["settings"]


if __name__ == "__main__":
    check_package()
    if "--server" in sys.argv:
        asyncio.run(check_server())
