"""Writes class definitions as Python text, safe against code injection.

Guarantees: a class is built as a syntax tree in which foreign text occurs in constants only;
the returned text parses to exactly that tree, otherwise an error is raised. The same classes
give the same text, in lines of at most a hundred characters where possible.
See also: building the definitions (`class_builder`).
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from kubeloop.wire import InvalidArgument

__all__ = [
    "ClassDefinition",
    "FieldDefinition",
    "annotated",
    "call",
    "docstring",
    "generic",
    "literal",
    "module_text",
    "name",
    "optional",
]

_WIDTH = 100
_INDENT = 4


class FieldDefinition(msgspec.Struct, frozen=True):
    """One field: an attribute, its annotation, and its value if it has one."""

    name: str
    hint: ast.expr
    value: ast.expr | None = None


class ClassDefinition(msgspec.Struct, frozen=True):
    """One class: its base with options, its docstring, its fields."""

    name: str
    base: str
    options: Mapping[str, ast.expr]
    doc: str
    fields: tuple[FieldDefinition, ...]


# --- expressions


def name(dotted: str) -> ast.expr:
    """A known name such as `Model` or `msgspec.field`; never one from a definition."""
    first, *rest = dotted.split(".")
    found: ast.expr = ast.Name(first, ast.Load())
    for part in rest:
        found = ast.Attribute(found, part, ast.Load())
    return found


def call(function: str, *arguments: ast.expr, **options: ast.expr) -> ast.expr:
    """`function(argument, option=…)`."""
    keywords = [ast.keyword(key, value) for key, value in options.items()]
    return ast.Call(name(function), list(arguments), keywords)


def generic(origin: str, *parts: ast.expr) -> ast.expr:
    """`origin[part, …]`."""
    inner = parts[0] if len(parts) == 1 else ast.Tuple(list(parts), ast.Load())
    return ast.Subscript(name(origin), inner, ast.Load())


def annotated(hint: ast.expr, *notes: ast.expr) -> ast.expr:
    """`Annotated[hint, note, …]`; only the hint without notes."""
    if not notes:
        return hint
    match hint:
        case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[*inner])):
            return generic("Annotated", *inner, *notes)
    return generic("Annotated", hint, *notes)


def optional(hint: ast.expr) -> ast.expr:
    """`hint | None`."""
    return ast.BinOp(hint, ast.BitOr(), ast.Constant(None))


def literal(value: Any) -> ast.expr:
    """The expression for JSON data or tuples of it.

    Raises:
        InvalidArgument: the value is not JSON data.
    """
    match value:
        case None | bool() | str():
            return ast.Constant(value)
        case int():
            return _number(value, negative=value < 0)
        case float() if math.isfinite(value):
            return _number(value, negative=math.copysign(1, value) < 0)
        case list():
            return ast.List([literal(item) for item in value], ast.Load())
        case tuple():
            return ast.Tuple([literal(item) for item in value], ast.Load())
        case dict() if all(isinstance(key, str) for key in value):
            # Sorted, so that the text does not depend on the order in the definition.
            keys: list[ast.expr | None] = [ast.Constant(key) for key in sorted(value)]
            return ast.Dict(keys, [literal(value[key]) for key in sorted(value)])
    raise InvalidArgument(f"{value!r:.80} is not JSON data")


def _number(value: float, *, negative: bool) -> ast.expr:
    # Python parses a minus sign as a unary operator.
    return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if negative else ast.Constant(value)


def docstring(text: str) -> str | None:
    """A docstring that `inspect.cleandoc` turns into `text`; None if there is none."""
    lines = text.split("\n")
    indented = "\n".join([lines[0], *(f"    {line}" if line else "" for line in lines[1:])])
    found = f"{indented}\n    " if len(lines) > 1 else indented
    return found if inspect.cleandoc(found) == text else None


# --- the module


def module_text(
    doc: str, imports: Mapping[str, Iterable[str]], classes: Sequence[ClassDefinition]
) -> str:
    """A module of `classes` in their order; `imports` are names by module.

    A module without names is imported itself.

    Raises:
        InvalidArgument: the text would not parse to the same classes, or Python cannot parse it.
    """
    try:
        tree = _tree(doc, imports, classes)
        text = "\n".join(_statement(node) for node in tree.body).lstrip("\n") + "\n"
        same = ast.dump(ast.parse(text)) == ast.dump(tree)
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        raise InvalidArgument(f"the classes cannot be written as Python: {error}") from error
    if not same:
        raise InvalidArgument("the classes cannot be written as Python without changing them")
    return text


def _tree(
    doc: str, imports: Mapping[str, Iterable[str]], classes: Sequence[ClassDefinition]
) -> ast.Module:
    exported = ast.List(
        [ast.Constant(each) for each in sorted(c.name for c in classes)], ast.Load()
    )
    body: list[ast.stmt] = [
        ast.Expr(ast.Constant(doc)),
        *(_import(module, names) for module, names in imports.items()),
        ast.Assign([ast.Name("__all__", ast.Store())], exported),
        *map(_class, classes),
    ]
    return ast.Module(body, [])


def _import(module: str, names: Iterable[str]) -> ast.stmt:
    ordered = sorted(names, key=lambda each: (not each.isupper(), each))  # the order of isort
    found = [ast.alias(each) for each in ordered]
    return ast.ImportFrom(module, found, 0) if found else ast.Import([ast.alias(module)])


def _class(definition: ClassDefinition) -> ast.stmt:
    body: list[ast.stmt] = [ast.Expr(ast.Constant(definition.doc))] if definition.doc else []
    body += [
        ast.AnnAssign(ast.Name(each.name, ast.Store()), each.hint, each.value, 1)
        for each in definition.fields
    ]
    options = [ast.keyword(key, value) for key, value in definition.options.items()]
    more: dict[str, Any] = {"type_params": []} if "type_params" in ast.ClassDef._fields else {}
    return ast.ClassDef(
        name=definition.name,
        bases=[name(definition.base)],
        keywords=options,
        body=body or [ast.Pass()],
        decorator_list=[],
        **more,
    )


# --- layout: all text is produced by `_one_line` or `repr`


def _statement(node: ast.stmt) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str(doc))):
            return f"{_docstring_literal(doc)}\n"
        case ast.Import(names=[ast.alias(name=module)]):
            return f"\nimport {module}\n"
        case ast.ImportFrom(module=module, names=names):
            return _import_text(str(module), [each.name for each in names])
        case ast.Assign(targets=[ast.Name(id=target)], value=value):
            return f"\n{target} = {_layout(value, len(target) + 3, 0)}"
        case ast.ClassDef():
            return f"\n\n{_class_text(node)}"
    raise TypeError(f"unexpected statement: {node!r}")


def _import_text(module: str, names: Sequence[str]) -> str:
    flat = f"from {module} import {', '.join(names)}"
    if len(flat) <= _WIDTH:
        return flat
    return f"from {module} import (\n" + "".join(f"    {each},\n" for each in names) + ")"


def _class_text(node: ast.ClassDef) -> str:
    head = ast.Call(ast.Name(node.name, ast.Load()), node.bases, node.keywords)
    lines = [f"class {_layout(head, 7, 0)}:"]
    for part in node.body:
        match part:
            case ast.Expr(value=ast.Constant(value=str(doc))):
                lines.append(
                    f"    {_docstring_literal(doc)}" + ("\n" if len(node.body) > 1 else "")
                )
            case ast.AnnAssign(target=ast.Name(id=field), annotation=hint, value=value):
                lines.append("    " + _field_text(field, hint, value))
            case _:
                lines.append("    pass")
    return "\n".join(lines)


def _field_text(field: str, hint: ast.expr, value: ast.expr | None) -> str:
    tail = f" = {_one_line(value)}" if value is not None else ""
    text = f"{field}: {_one_line(hint)}{tail}"
    if _INDENT + len(text) <= _WIDTH:
        return text
    start = f"{field}: {_layout(hint, _INDENT + len(field) + 2, _INDENT)}"
    last = len(start.rpartition("\n")[2])
    return start + (f" = {_layout(value, last + 3, _INDENT)}" if value is not None else "")


def _docstring_literal(text: str) -> str:
    """A triple-quoted docstring for plain text, otherwise an escaped constant."""
    plain = text.replace("\n", "")
    if plain.isprintable() and '"""' not in text and "\\" not in text and not text.endswith('"'):
        return f'"""{text}"""'
    return _string_literal(text)


def _string_literal(text: str) -> str:
    found = repr(text)
    return f'"{found[1:-1]}"' if '"' not in text and "'" not in text else found


_Items = list[tuple[str, ast.expr]]


def _brackets(node: ast.expr) -> tuple[str, _Items, str] | None:
    """The opening bracket of an expression, its parts with their prefixes, the closing one."""
    match node:
        case ast.Call(func=function, args=arguments, keywords=keywords):
            named = [(f"{each.arg}=", each.value) for each in keywords]
            return f"{_one_line(function)}(", [*(("", each) for each in arguments), *named], ")"
        case ast.Subscript(value=origin, slice=ast.Tuple(elts=parts)):
            return f"{_one_line(origin)}[", [("", each) for each in parts], "]"
        case ast.Subscript(value=origin, slice=part):
            return f"{_one_line(origin)}[", [("", part)], "]"
        case ast.List(elts=parts):
            return "[", [("", each) for each in parts], "]"
        case ast.Tuple(elts=parts):
            return "(", [("", each) for each in parts], ")"
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return "{", [(f"{_one_line(key)}: ", value) for key, value in pairs if key], "}"
    return None


def _one_line(node: ast.expr) -> str:
    found = _brackets(node)
    if found is not None:
        start, items, end = found
        comma = "," if isinstance(node, ast.Tuple) and len(items) == 1 else ""
        return start + ", ".join(before + _one_line(each) for before, each in items) + comma + end
    match node:
        case ast.Constant(value=str(text)):
            return _string_literal(text)
        case ast.Constant(value=value):
            return repr(value)
        case ast.Name(id=found_name):
            return found_name
        case ast.Attribute(value=value, attr=attr):
            return f"{_one_line(value)}.{attr}"
        case ast.UnaryOp(operand=operand):
            return f"-{_one_line(operand)}"
        case ast.BinOp(left=left, right=right):
            return f"{_one_line(left)} | {_one_line(right)}"
    raise TypeError(f"unexpected expression: {node!r}")


def _layout(node: ast.expr, column: int, indent: int) -> str:
    """The expression from `column` on: in one line if it fits, otherwise one part per line."""
    flat = _one_line(node)
    if column + len(flat) < _WIDTH:
        return flat
    if isinstance(node, ast.BinOp):
        return f"{_layout(node.left, column, indent)} | {_one_line(node.right)}"
    found = _brackets(node)
    if found is None or not found[1]:
        return flat
    start, items, end = found
    inside = indent + _INDENT
    # A comma after the only part of a subscript would make it a tuple.
    comma = "" if isinstance(node, ast.Subscript) and len(items) == 1 else ","
    lines = [
        f"{' ' * inside}{before}{_layout(each, inside + len(before), inside)}"
        for before, each in items
    ]
    return start + "\n" + ",\n".join(lines) + comma + "\n" + " " * indent + end
