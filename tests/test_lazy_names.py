"""Names that a package imports on first use (`kubeloop._lazy`)."""

from __future__ import annotations

import ast
import pkgutil
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path

import pytest

import kubeloop

ROOT = Path(kubeloop.__path__[0])
LAZY = [
    ".".join(("kubeloop", *path.parent.relative_to(ROOT).parts))
    for path in sorted(ROOT.rglob("__init__.py"))
    if "lazy_names(" in path.read_text("utf-8")
]


def test_the_packages_of_a_client_are_lazy() -> None:
    assert {"kubeloop", "kubeloop.clients", "kubeloop.config", "kubeloop.runtime"} <= set(LAZY)


@pytest.mark.parametrize("package", LAZY)
def test_the_names_that_type_checkers_see_are_those_that_are_imported_on_use(package: str) -> None:
    block = _type_checking_block(package)

    assert _names_for_type_checkers(block) == _names_on_use(block)


@pytest.mark.parametrize("package", LAZY)
def test_a_name_is_the_one_of_its_module(package: str) -> None:
    found = import_module(package)
    names = _names_on_use(_type_checking_block(package))

    wrong = [
        name
        for module, name in names
        if getattr(found, name) is not getattr(import_module(resolve_name(module, package)), name)
    ]

    assert wrong == []


@pytest.mark.parametrize("package", LAZY)
def test_no_module_can_replace_a_name_of_its_package(package: str) -> None:
    names = {name for _, name in _names_on_use(_type_checking_block(package))}

    modules = {found.name for found in pkgutil.iter_modules(import_module(package).__path__)}

    assert names & modules == set()


@pytest.mark.parametrize("package", LAZY)
def test_a_package_lists_its_public_names(package: str) -> None:
    found = import_module(package)

    assert dir(found) == sorted(found.__all__)


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'kubeloop' has no attribute 'Clinet'"):
        kubeloop.Clinet  # type: ignore[attr-defined] # noqa: B018 - mypy must reject it


def _type_checking_block(package: str) -> ast.If:
    path = import_module(package).__file__
    assert path is not None
    tree = ast.parse(Path(path).read_text("utf-8"))
    return next(node for node in tree.body if isinstance(node, ast.If))


def _names_for_type_checkers(block: ast.If) -> set[tuple[str, str]]:
    return {
        ("." * node.level + (node.module or ""), each.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    }


def _names_on_use(block: ast.If) -> set[tuple[str, str]]:
    table = next(node for node in ast.walk(block) if isinstance(node, ast.Dict))
    names_by_module: dict[str, str] = ast.literal_eval(table)
    return {(module, name) for module, names in names_by_module.items() for name in names.split()}
