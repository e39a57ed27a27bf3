"""Lists the public names of kubeloop, as in `tests/public_names.txt`.

    python tools/public_names.py tests/public_names.txt

Guarantees: one name per line, sorted; a name is public if it is in `__all__` of a package. Of
the generated models only the modules are listed: their names are those of the Kubernetes API.
See also: `tests/test_public_names.py` (compares).
"""

from __future__ import annotations

import argparse
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

__all__ = ["exported_names", "packages", "public_names"]

PACKAGE = "kubeloop"
MODELS = "kubeloop.wire"


def public_names() -> list[str]:
    """Every public name, with its package."""
    names = {
        f"{package.__name__}.{name}" for package in packages() for name in exported_names(package)
    }
    return sorted(names | set(group_versions()))


def packages() -> list[ModuleType]:
    """kubeloop, and its public packages and modules."""
    root = import_module(PACKAGE)
    return [root, *(import_module(name) for name, _ in children(root))]


def exported_names(package: ModuleType) -> list[str]:
    names: list[str] = getattr(package, "__all__", [])
    return names


def group_versions() -> Iterator[str]:
    """The modules of generated models, as `kubeloop.wire.<group>.<version>`, not imported."""
    for group, is_package in children(import_module(MODELS)):
        if is_package:
            yield from (version for version, _ in children(import_module(group)))


def children(parent: ModuleType) -> Iterator[tuple[str, bool]]:
    """The public modules in `parent`, and whether each is a package."""
    for found in pkgutil.iter_modules(parent.__path__):
        if not found.name.startswith("_"):
            yield f"{parent.__name__}.{found.name}", found.ispkg


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path, help="the file to write")
    file: Path = parser.parse_args().file
    file.write_text("".join(f"{name}\n" for name in public_names()), encoding="utf-8")


if __name__ == "__main__":
    main()
