"""Reads the public API of packages from their sources: definitions, docstrings, signatures.

Guarantees: nothing is imported, so that the result depends neither on the version of Python nor
on what is installed. Signatures, fields and defaults are the text of the source.
See also: `reference_pages` (writes the pages).
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
import textwrap
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["PACKAGES", "Definition", "Module", "definition_of", "public_packages", "read_module"]

ROOT = Path(__file__).parent.parent
_SOURCES: Final = {
    "kubeloop": ROOT / "packages/kubeloop/src/kubeloop",
    "kubeloop_testing": ROOT / "packages/kubeloop-testing/src/kubeloop_testing",
}
PACKAGES: Final = (
    *(
        f"kubeloop.{file.parent.name}"
        for file in sorted(_SOURCES["kubeloop"].glob("*/__init__.py"))
    ),
    "kubeloop_testing",
)
"""The packages that have a page."""

# What a caller has to know; other decorators say how a function works.
_SHOWN_DECORATORS: Final = re.compile(
    r"(functools\.)?cached_property|property|(class|static)method|(\w+\.)?(async)?contextmanager"
)
_SHOWN_SPECIAL: Final = frozenset({"__init__", "__call__"})
_PRAGMA: Final = re.compile(r"\s+# (?:noqa|type: ignore|fmt:|pragma:).*$", re.MULTILINE)
_MAX_LINES: Final = 12  # of the value of a constant
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module:
    """One source file: its definitions and imports."""

    def __init__(self, name: str, file: Path) -> None:
        self.name = name
        self.is_package = file.name == "__init__.py"
        self.text = file.read_text(encoding="utf-8")
        self.lines = self.text.splitlines()
        self.tree = ast.parse(self.text)
        self.docstring = ast.get_docstring(self.tree) or ""

    @functools.cached_property
    def exported(self) -> list[str]:
        """The names of `__all__`."""
        for statement in self.tree.body:
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
                names: list[str] = ast.literal_eval(statement.value)
                return names
        return []

    @functools.cached_property
    def nodes(self) -> dict[str, ast.stmt]:
        """The definitions, by name; of overloads the implementation."""
        names = ((_name_of(statement), statement) for statement in _statements(self.tree.body))
        return {name: statement for name, statement in names if name}

    @functools.cached_property
    def imports(self) -> dict[str, tuple[str, str]]:
        """Module and name of what is imported by name."""
        return {
            alias.asname or alias.name: (self._absolute(node), alias.name)
            for node in _statements(self.tree.body)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        base = parts[: len(parts) - node.level + self.is_package]
        return ".".join([*base, node.module] if node.module else base)

    def source(self, node: ast.stmt) -> str:
        """The text of a statement, with the comment at its end, and without indentation."""
        assert node.end_lineno is not None
        return _clean("\n".join(self.lines[node.lineno - 1 : node.end_lineno]))

    def head(self, node: _Function | ast.ClassDef) -> str:
        """The text of a definition, down to the colon before its body."""
        lines = self.lines[node.lineno - 1 :]
        depth = 0
        for token in tokenize.generate_tokens((f"{line}\n" for line in lines).__next__):
            if token.type == tokenize.OP:
                depth += (token.string in "([{") - (token.string in ")]}")
                if token.string == ":" and not depth:
                    row, column = token.end
                    return _clean("\n".join([*lines[: row - 1], lines[row - 1][:column]]))
        raise AssertionError(f"{self.name}:{node.lineno}: no body")


class Definition(NamedTuple):
    """A class, function or value, in the module that defines it."""

    name: str
    module: Module
    node: ast.stmt | None  # None: it comes from another library

    @property
    def path(self) -> tuple[str, str]:
        return self.module.name, self.name

    @property
    def kind(self) -> str:
        if isinstance(self.node, ast.ClassDef):
            return "class"
        return "function" if isinstance(self.node, _Function) else "value"

    @property
    def docstring(self) -> str:
        if isinstance(self.node, _Function | ast.ClassDef):
            return ast.get_docstring(self.node) or ""
        return _text_after(self.module.tree.body, self.node) or self._comment_before()

    def _comment_before(self) -> str:
        first = (self.node.lineno if self.node else 1) - 1
        lines: list[str] = []
        while first and self.module.lines[first - 1].startswith("# "):
            first -= 1
            lines.insert(0, self.module.lines[first].removeprefix("# "))
        return "\n".join(lines)

    def stub(self) -> str:
        """The definition without bodies, as Python."""
        match self.node:
            case None:
                return f"from {self.module.imports[self.name][0]} import {self.name}"
            case ast.ClassDef():
                members = [*self._members()]
                body = "\n".join(member for _, member in members).lstrip()
                head = self.module.head(self.node)
                return f"{head}\n{textwrap.indent(body, '    ')}" if body else f"{head} ..."
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return f"{_decorators(self.node)}{self.module.head(self.node)} ..."
            case _:
                text = self.module.source(self.node)
                is_long = text.count("\n") >= _MAX_LINES
                return text.partition("=")[0] + "= ..." if is_long else text

    def bases(self) -> Iterator[Definition]:
        """The bases that are defined in kubeloop."""
        for base in self.node.bases if isinstance(self.node, ast.ClassDef) else ():
            name = base.value if isinstance(base, ast.Subscript) else base
            if isinstance(name, ast.Name) and (definition := definition_of(self.module, name.id)):
                yield definition

    def public_bases(self) -> Iterator[Definition]:
        """The next bases that have a section of their own."""
        for base in self.bases():
            if base.path in public_packages():
                yield base
            else:
                yield from base.public_bases()

    def options(self) -> Iterator[Definition]:
        """The classes of keyword arguments in its signatures, unless they are public."""
        for name in re.findall(r"Unpack\[(\w+)", self.stub()):
            definition = definition_of(self.module, name) or next(
                (found for base in self.bases() if (found := definition_of(base.module, name))),
                None,
            )
            if definition and definition.path not in public_packages():
                yield definition

    def _members(self) -> Iterator[tuple[str, str]]:
        """Public fields and methods, then those of bases that have no section of their own."""
        assert isinstance(self.node, ast.ClassDef)
        names: set[str] = set()
        own = _class_members(self.module, self.node)
        inherited = (
            member
            for base in self.bases()
            if base.path not in public_packages() and isinstance(base.node, ast.ClassDef)
            for member in base._members()
        )
        for members in (own, inherited):
            for name, text in members:
                if name not in names:
                    names.add(name)
                    yield name, text


# --- members of classes


def _class_members(module: Module, node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    body = [*_statements(node.body)]
    methods = {_name_of(each): each for each in body if isinstance(each, _Function)}
    fields = [each for each in body if isinstance(each, ast.Assign | ast.AnnAssign)]
    for field in fields:
        name = _name_of(field)
        if name and not name.startswith("_"):
            text = _text_after(node.body, field)
            yield name, "\n".join([module.source(field), *_docstring_lines(text)])
    if "__init__" in methods:
        yield from _instance_fields(methods["__init__"])
    for name, method in methods.items():
        if name in _SHOWN_SPECIAL or not name.startswith("_"):
            yield name, f"\n{_method(module, method)}"


def _instance_fields(init: _Function) -> Iterator[tuple[str, str]]:
    """The public attributes that `__init__` assigns, with their annotation or value."""
    arguments = [*init.args.posonlyargs, *init.args.args, *init.args.kwonlyargs]
    annotations = {each.arg: ast.unparse(each.annotation) for each in arguments if each.annotation}
    for statement in ast.walk(init):
        match statement:
            case ast.AnnAssign(target=ast.Attribute(ast.Name("self"), name), annotation=annotation):
                text = f"{name}: {ast.unparse(annotation)}"
            case ast.Assign([ast.Attribute(ast.Name("self"), name)], ast.Name(argument)) if (
                argument in annotations
            ):
                text = f"{name}: {annotations[argument]}"
            case ast.Assign([ast.Attribute(ast.Name("self"), name)], ast.Call(ast.Name(cls))) if (
                cls[0].isupper()
            ):
                text = f"{name}: {cls}"
            case _:
                continue
        if not name.startswith("_"):
            yield name, text


def _method(module: Module, node: _Function) -> str:
    lines = _docstring_lines(ast.get_docstring(node) or "")
    head = f"{_decorators(node)}{module.head(node)}"
    return (
        "\n".join([head, *(f"    {line}".rstrip() for line in lines)]) if lines else f"{head} ..."
    )


def _decorators(node: _Function) -> str:
    names = [ast.unparse(each) for each in node.decorator_list]
    return "".join(f"@{name}\n" for name in names if _SHOWN_DECORATORS.fullmatch(name))


def _docstring_lines(text: str) -> list[str]:
    """The first paragraph of a docstring, and what it says about errors, as a docstring."""
    first, _, rest = text.partition("\n\n")
    if not first:
        return []
    raises = re.search(r"^Raises:.*?(?=\n\n|\Z)", rest, re.DOTALL | re.MULTILINE)
    lines = [*first.splitlines(), *(["", *raises[0].splitlines()] if raises else ())]
    prefix = 'r"""' if "\\" in text else '"""'
    if len(lines) == 1:
        return [f'{prefix}{lines[0]}"""']
    return [f"{prefix}{lines[0]}", *lines[1:], '"""']


# --- reading


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body, with those that only type checkers see."""
    for statement in body:
        if isinstance(statement, ast.If):
            is_typing = ast.unparse(statement.test) == "TYPE_CHECKING"
            yield from _statements(statement.body if is_typing else statement.orelse)
        elif not _is_setter(statement):
            yield statement


def _is_setter(statement: ast.stmt) -> bool:
    names = [ast.unparse(each) for each in getattr(statement, "decorator_list", ())]
    return any(name.endswith((".setter", ".deleter")) for name in names)


def _name_of(statement: ast.stmt) -> str:
    match statement:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name
        case ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name)):
            return name
    return ""


def _text_after(body: Sequence[ast.stmt], node: ast.stmt | None) -> str:
    """The docstring of a field or a constant: a text on the next line."""
    statements = [*_statements(body)]
    following = statements[statements.index(node) + 1 :] if node in statements else []
    match following[:1]:
        case [ast.Expr(ast.Constant(str(text)))]:
            return inspect.cleandoc(text)
    return ""


def _clean(text: str) -> str:
    return textwrap.dedent(_PRAGMA.sub("", text)).strip()


@functools.cache
def read_module(name: str) -> Module | None:
    """A module of kubeloop; None for those of other libraries."""
    root, *parts = name.split(".")
    if root not in _SOURCES:
        return None
    path = _SOURCES[root].joinpath(*parts)
    files = [path / "__init__.py", *([path.with_suffix(".py")] if parts else ())]
    return next((Module(name, file) for file in files if file.exists()), None)


def definition_of(module: Module, name: str) -> Definition | None:
    """Where a name that a module uses is defined; None for other libraries' and built-in names."""
    if name in module.nodes:
        return Definition(name, module, module.nodes[name])
    if name not in module.imports:
        return None
    source, original = module.imports[name]
    other = read_module(source)
    if other is None or other is module:
        return None
    return definition_of(other, original) or Definition(original, other, None)


@functools.cache
def public_packages() -> dict[tuple[str, str], str]:
    """The package whose page has the section, for each definition."""
    packages: dict[tuple[str, str], str] = {}
    for package in PACKAGES:
        module = read_module(package)
        assert module is not None
        for name in module.exported:
            definition = definition_of(module, name)
            # A name that two packages export belongs to the one that defines it.
            if definition and (
                definition.path not in packages or definition.path[0].startswith(package)
            ):
                packages[definition.path] = package
    return packages
