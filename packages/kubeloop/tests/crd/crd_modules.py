"""What the tests of generated modules share: running one, and looking for code in it."""

from __future__ import annotations

import ast
from typing import Any

from kubeloop.wire import Resource

__all__ = ["class_in", "crd", "foreign_code", "names_in"]

_CALLS = {"Column", "FieldFacts", "ScalePaths", "msgspec.Meta", "msgspec.field"}
_IMPORTS = {"kubeloop.wire", "msgspec", "typing"}
_INERT = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Name, ast.Attribute, ast.Subscript,
          ast.BinOp, ast.BitOr, ast.UnaryOp, ast.USub, ast.Load, ast.keyword)  # fmt: skip


def crd(schema: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The definition of websites.example.com whose objects are of `schema`."""
    version = {"name": "v1", "served": True, "storage": True} | changes.pop("version", {})
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "websites.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Website", "plural": "websites"},
            "scope": "Namespaced",
            "versions": [version | {"schema": {"openAPIV3Schema": schema}}],
        }
        | changes,
    }


def names_in(text: str) -> dict[str, Any]:
    """The names that a module defines when it is run."""
    found: dict[str, Any] = {"__name__": "generated"}
    exec(compile(text, "generated", "exec", dont_inherit=True), found)
    return found


def class_in(text: str) -> type[Resource]:
    """The kind that a generated module defines."""
    (kind,) = (
        each
        for each in names_in(text).values()
        if isinstance(each, type) and issubclass(each, Resource) and each.__kind_options__
    )
    return kind


def foreign_code(text: str) -> list[str]:
    """Whatever in a module is more than a docstring, an import of ours, or a class of fields."""
    return [ast.unparse(node)[:200] for node in ast.parse(text).body if not _is_plain(node)]


def _is_plain(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
            return True
        case ast.Import(names=[ast.alias(name="msgspec", asname=None)]):
            return True
        case ast.ImportFrom(module=str(module), names=names, level=0):
            return module in _IMPORTS and all(each.asname is None for each in names)
        case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=elts)):
            return all(isinstance(each, ast.Constant) for each in elts)
        case ast.AnnAssign(target=ast.Name(), annotation=hint, value=value):
            return _is_inert(hint) and (value is None or _is_inert(value))
        case ast.ClassDef(bases=[ast.Name(id="Model" | "Resource")], decorator_list=[]):
            return all(
                _is_plain(part) and not isinstance(part, ast.ClassDef) for part in node.body
            ) and all(_is_inert(each.value) for each in node.keywords)
    return False


def _is_inert(expression: ast.expr) -> bool:
    return all(
        isinstance(node, _INERT)
        or (isinstance(node, ast.Call) and ast.unparse(node.func) in _CALLS)
        for node in ast.walk(expression)
    )
