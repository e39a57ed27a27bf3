"""Writes classes down as Python text, so that no text in them can become code.

Guarantees: a class is built as a syntax tree in which foreign text only ever stands in
constants; the text that is handed out reads back as exactly that tree, or nothing is
handed out. The same classes give the same text, in lines of a hundred characters where
that can be.
See also: what the classes are (`class_sketches`).
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
    "ClassSketch",
    "FieldSketch",
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


class FieldSketch(msgspec.Struct, frozen=True):
    """One field: an attribute, its annotation, and its value where it has one."""

    name: str
    hint: ast.expr
    value: ast.expr | None = None


class ClassSketch(msgspec.Struct, frozen=True):
    """One class: its base with the options given to it, its docstring, its fields."""

    name: str
    base: str
    options: Mapping[str, ast.expr]
    doc: str
    fields: tuple[FieldSketch, ...]


# --- expressions


def name(dotted: str) -> ast.expr:
    """A name of ours, `Model` or `msgspec.field`; never one that came from outside."""
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
    """`Annotated[hint, note, …]`; the hint alone where there is nothing to note."""
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
    """The constant that JSON data is; tuples of it are tuples.

    Raises:
        InvalidArgument: the value is no JSON data.
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
            # Sorted: in whichever order a definition came, the text is the same.
            keys: list[ast.expr | None] = [ast.Constant(key) for key in sorted(value)]
            return ast.Dict(keys, [literal(value[key]) for key in sorted(value)])
    raise InvalidArgument(f"{value!r:.80} is no JSON data")


def _number(value: float, *, negative: bool) -> ast.expr:
    # Python reads a minus as an operation on what follows.
    return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if negative else ast.Constant(value)


def docstring(text: str) -> str | None:
    """The docstring that `inspect.cleandoc` reads as `text`; None where there is none."""
    lines = text.split("\n")
    indented = "\n".join([lines[0], *(f"    {line}" if line else "" for line in lines[1:])])
    found = f"{indented}\n    " if len(lines) > 1 else indented
    return found if inspect.cleandoc(found) == text else None


# --- the module


def module_text(
    doc: str, imports: Mapping[str, Iterable[str]], classes: Sequence[ClassSketch]
) -> str:
    """A module of `classes`, in their order; `imports` are names by module, none for all of it.

    Raises:
        InvalidArgument: the text would not be what was meant, or is too much for Python.
    """
    try:
        tree = _tree(doc, imports, classes)
        text = "\n".join(_statement(node) for node in tree.body).lstrip("\n") + "\n"
        same = ast.dump(ast.parse(text)) == ast.dump(tree)
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        raise InvalidArgument(f"the classes cannot be written down: {error}") from error
    if not same:
        raise InvalidArgument("the classes cannot be written down without changing what they say")
    return text


def _tree(
    doc: str, imports: Mapping[str, Iterable[str]], classes: Sequence[ClassSketch]
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
    ordered = sorted(names, key=lambda each: (not each.isupper(), each))  # as linters want it
    found = [ast.alias(each) for each in ordered]
    return ast.ImportFrom(module, found, 0) if found else ast.Import([ast.alias(module)])


def _class(sketch: ClassSketch) -> ast.stmt:
    body: list[ast.stmt] = [ast.Expr(ast.Constant(sketch.doc))] if sketch.doc else []
    body += [
        ast.AnnAssign(ast.Name(each.name, ast.Store()), each.hint, each.value, 1)
        for each in sketch.fields
    ]
    options = [ast.keyword(key, value) for key, value in sketch.options.items()]
    more: dict[str, Any] = {"type_params": []} if "type_params" in ast.ClassDef._fields else {}
    return ast.ClassDef(
        name=sketch.name,
        bases=[name(sketch.base)],
        keywords=options,
        body=body or [ast.Pass()],
        decorator_list=[],
        **more,
    )


# --- layout: every text comes out of `_flat` or `repr`


def _statement(node: ast.stmt) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str(doc))):
            return f"{_quoted_doc(doc)}\n"
        case ast.Import(names=[ast.alias(name=module)]):
            return f"\nimport {module}\n"
        case ast.ImportFrom(module=module, names=names):
            return _import_text(str(module), [each.name for each in names])
        case ast.Assign(targets=[ast.Name(id=target)], value=value):
            return f"\n{target} = {_laid(value, len(target) + 3, 0)}"
        case ast.ClassDef():
            return f"\n\n{_class_text(node)}"
    raise TypeError(f"no statement of ours: {node!r}")


def _import_text(module: str, names: Sequence[str]) -> str:
    flat = f"from {module} import {', '.join(names)}"
    if len(flat) <= _WIDTH:
        return flat
    return f"from {module} import (\n" + "".join(f"    {each},\n" for each in names) + ")"


def _class_text(node: ast.ClassDef) -> str:
    head = ast.Call(ast.Name(node.name, ast.Load()), node.bases, node.keywords)
    lines = [f"class {_laid(head, 7, 0)}:"]
    for part in node.body:
        match part:
            case ast.Expr(value=ast.Constant(value=str(doc))):
                lines.append(f"    {_quoted_doc(doc)}" + ("\n" if len(node.body) > 1 else ""))
            case ast.AnnAssign(target=ast.Name(id=field), annotation=hint, value=value):
                lines.append("    " + _field_text(field, hint, value))
            case _:
                lines.append("    pass")
    return "\n".join(lines)


def _field_text(field: str, hint: ast.expr, value: ast.expr | None) -> str:
    tail = f" = {_flat(value)}" if value is not None else ""
    text = f"{field}: {_flat(hint)}{tail}"
    if _INDENT + len(text) <= _WIDTH:
        return text
    start = f"{field}: {_laid(hint, _INDENT + len(field) + 2, _INDENT)}"
    last = len(start.rpartition("\n")[2])
    return start + (f" = {_laid(value, last + 3, _INDENT)}" if value is not None else "")


def _quoted_doc(text: str) -> str:
    """A docstring over several lines where it is plain text, else one escaped constant."""
    plain = text.replace("\n", "")
    if plain.isprintable() and '"""' not in text and "\\" not in text and not text.endswith('"'):
        return f'"""{text}"""'
    return _quoted(text)


def _quoted(text: str) -> str:
    found = repr(text)
    return f'"{found[1:-1]}"' if '"' not in text and "'" not in text else found


_Items = list[tuple[str, ast.expr]]


def _brackets(node: ast.expr) -> tuple[str, _Items, str] | None:
    """How an expression opens, its parts with what stands before each, how it closes."""
    match node:
        case ast.Call(func=function, args=arguments, keywords=keywords):
            named = [(f"{each.arg}=", each.value) for each in keywords]
            return f"{_flat(function)}(", [*(("", each) for each in arguments), *named], ")"
        case ast.Subscript(value=origin, slice=ast.Tuple(elts=parts)):
            return f"{_flat(origin)}[", [("", each) for each in parts], "]"
        case ast.Subscript(value=origin, slice=part):
            return f"{_flat(origin)}[", [("", part)], "]"
        case ast.List(elts=parts):
            return "[", [("", each) for each in parts], "]"
        case ast.Tuple(elts=parts):
            return "(", [("", each) for each in parts], ")"
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return "{", [(f"{_flat(key)}: ", value) for key, value in pairs if key], "}"
    return None


def _flat(node: ast.expr) -> str:
    found = _brackets(node)
    if found is not None:
        start, items, end = found
        comma = "," if isinstance(node, ast.Tuple) and len(items) == 1 else ""
        return start + ", ".join(before + _flat(each) for before, each in items) + comma + end
    match node:
        case ast.Constant(value=str(text)):
            return _quoted(text)
        case ast.Constant(value=value):
            return repr(value)
        case ast.Name(id=found_name):
            return found_name
        case ast.Attribute(value=value, attr=attr):
            return f"{_flat(value)}.{attr}"
        case ast.UnaryOp(operand=operand):
            return f"-{_flat(operand)}"
        case ast.BinOp(left=left, right=right):
            return f"{_flat(left)} | {_flat(right)}"
    raise TypeError(f"no expression of ours: {node!r}")


def _laid(node: ast.expr, column: int, indent: int) -> str:
    """The expression as it stands from `column` on: flat where it fits, else a part a line."""
    flat = _flat(node)
    if column + len(flat) < _WIDTH:
        return flat
    if isinstance(node, ast.BinOp):
        return f"{_laid(node.left, column, indent)} | {_flat(node.right)}"
    found = _brackets(node)
    if found is None or not found[1]:
        return flat
    start, items, end = found
    inside = indent + _INDENT
    # A comma after the only part of a subscript would make a tuple of it.
    comma = "" if isinstance(node, ast.Subscript) and len(items) == 1 else ","
    lines = [
        f"{' ' * inside}{before}{_laid(each, inside + len(before), inside)}"
        for before, each in items
    ]
    return start + "\n" + ",\n".join(lines) + comma + "\n" + " " * indent + end
