"""Lists the public names of each distribution, as in `packages/*/public_names.txt`.

    python tools/public_names.py     # writes the files

Guarantees: one name per line, sorted; a name is public if it is in `__all__` of a package. Of
the generated models only the modules are listed: their names are those of the Kubernetes API.
See also: `tests/test_public_names.py` (compares).
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

__all__ = ["FILES", "exported_names", "packages", "public_names"]

ROOT = Path(__file__).parent.parent
LIBRARY = "kubeloop"
MODELS = "kubeloop.wire"
FILES = {
    "kubeloop": ROOT / "packages/kubeloop/public_names.txt",
    "kubeloop_cli": ROOT / "packages/kubeloop-cli/public_names.txt",
    "kubeloop_testing": ROOT / "packages/kubeloop-testing/public_names.txt",
}
"""The golden file of each top-level package."""


def public_names(root: str) -> list[str]:
    """Every public name of a distribution, with its package."""
    names = {
        f"{package.__name__}.{name}"
        for package in packages(root)
        for name in exported_names(package)
    }
    return sorted(names | set(group_versions() if root == LIBRARY else ()))


def packages(root: str) -> list[ModuleType]:
    """A top-level package and, of the library, its public packages and modules."""
    package = import_module(root)
    below = children(package) if root == LIBRARY else ()
    return [package, *(import_module(name) for name, _ in below)]


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
    for module in pkgutil.iter_modules(parent.__path__):
        if not module.name.startswith("_"):
            yield f"{parent.__name__}.{module.name}", module.ispkg


def main() -> None:
    for root, file in FILES.items():
        file.write_text("".join(f"{name}\n" for name in public_names(root)), encoding="utf-8")


if __name__ == "__main__":
    main()
