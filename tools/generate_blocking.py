"""Generates the blocking clients: a method for each method of the async classes.

    python tools/generate_blocking.py [--check]

A method has the signature of the async one, and one line that runs it in the loop thread
(`LoopReference`). The return type decides how: a coroutine is waited for, an async iterator
becomes a `Stream`, an async context manager a `BlockingContext`, and a class that is generated
too its blocking form. A `RemoteCommand`, which is awaited or entered, becomes two methods. A
callback that may be async is called in the caller's thread. `--check`
writes nothing, and fails if a file would change.
"""

from __future__ import annotations

import argparse
import ast
import copy
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parent.parent / "src" / "kubeloop"
WIDTH = 100

Method = ast.FunctionDef | ast.AsyncFunctionDef


class Source(msgspec.Struct, frozen=True):
    """An async class to generate from, and the methods to skip."""

    package: str
    module: str
    name: str
    generic: bool = False
    without: frozenset[str] = frozenset()
    protocol: str = ""  # the declared type, if the async side returns a Protocol


SOURCES = (
    Source(
        "clients",
        "resource",
        "ResourceClient",
        generic=True,
        without=frozenset({"raw"}),  # bytes for caches, which run in the loop
    ),
    Source("clients", "subresources", "SubresourceClient", generic=True),
    Source("clients", "metadata", "MetadataClient", without=frozenset({"raw"})),
    Source("clients", "scale", "ScaleClient"),
    Source("clients", "subresources", "Proxy"),
    Source("clients", "rollout", "Rollout"),
    Source("discovery", "client", "DiscoveryClient"),
    Source("discovery", "client", "OpenApiV3"),
    Source("discovery", "deferred_mapper", "DeferredMapper"),
    Source(
        "rest",
        "client",
        "RESTClient",
        without=frozenset({"aclose", "clock", "codec", "limiter", "max_retries", "websocket"}),
        protocol="RequestSender",
    ),
)

# The items of async classes that are iterators without a type parameter.
STREAMED = {"Watch": "RawEvent", "ByteStream": "bytes", "ItemStream": "bytes"}
# Attributes of the async classes that are not properties.
ATTRIBUTES = {"DiscoveryClient": {"openapi": "OpenApiV3"}}

# Names that the bodies of the methods need.
_BODY_NAMES = {
    "AbstractContextManager": "contextlib",
    "Awaitable": "collections.abc",
    "Callable": "collections.abc",
    "ExecResult": "kubeloop.streams",
    "PortConnection": "kubeloop.blocking.process",
    "Process": "kubeloop.blocking.process",
    "Stream": "kubeloop.blocking.stream",
    "cast": "typing",
    "in_caller_thread": "kubeloop.blocking.calls",
    "iterate_awaited": "kubeloop.blocking.stream",
}

# Types that only the async side uses.
_ASYNC_TYPES = {"AbstractAsyncContextManager", "AsyncGenerator", "AsyncIterator"}
# Values of context managers that have a blocking form of their own.
_WRAPPED = {"PortConnection", "Process"}

_GENERATED = {source.name for source in SOURCES}
_FIRST_LINE = "# Generated from the async classes by tools/generate_blocking.py. Do not edit."

_HEAD = '''\
"""The blocking forms of the async classes: each method runs the async one and waits for it."""

# ruff: noqa: A002 - names of the API

from __future__ import annotations

'''


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or compare; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--out", type=Path, default=ROOT / "blocking" / "_generated")
    options = parser.parse_args(arguments)
    files = render()
    changed = 0
    for path in sorted(options.out.glob("*.py")):
        if path.name not in files:
            changed += 1
            if options.check:
                print(f"would remove: {path.name}", file=sys.stderr)
            else:
                path.unlink()
    for name, text in files.items():
        path = options.out / name
        if path.is_file() and path.read_text("utf-8") == text:
            continue
        changed += 1
        if options.check:
            print(f"would change: {name}", file=sys.stderr)
        else:
            options.out.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    return 1 if options.check and changed else 0


def render() -> dict[str, str]:
    """The contents of the files by name."""
    return {
        "__init__.py": f"{_FIRST_LINE}\n",
        "clientset.py": _clientset(),
        "clients.py": _clients(),
    }


# --- the clientset: that of the async clients, with the blocking ResourceClient


def _clientset() -> str:
    text = (ROOT / "clients" / "_generated" / "clientset.py").read_text("utf-8")
    _, _, body = text.partition("\n")
    async_import = "from kubeloop.clients.resource import ResourceClient"
    assert body.count(async_import) == 1, "the clientset imports ResourceClient in another way"
    blocking_import = "from kubeloop.blocking._generated.clients import ResourceClient"
    return f"{_FIRST_LINE}\n{body.replace(async_import, blocking_import)}"


# --- the classes


def _clients() -> str:
    imports = _Imports()
    classes = [_class(source, imports) for source in SOURCES]
    exported = "".join(f'    "{name}",\n' for name in sorted(_GENERATED))
    variables = "".join(f"{line}\n" for line in imports.variables())
    return (
        f"{_FIRST_LINE}\n\n{_HEAD}{imports.text()}\n__all__ = [\n{exported}]\n\n{variables}"
        + "".join(f"\n\n{text}" for text in classes)
    )


def _class(source: Source, imports: _Imports) -> str:
    text = ["@final"]
    target = f"{source.package}.{source.protocol or source.name}"
    if source.generic:
        text.append(f"class {source.name}(Generic[T]):")
        target += "[T]"
        imports.names |= {"Generic", "T"}
    else:
        text.append(f"class {source.name}:")
    module = _Module(source.package, source.module)
    text += [
        f'    """The blocking form of `kubeloop.{source.package}.{source.name}`."""',
        "",
        '    __slots__ = ("_reference",)',
        "",
        f"    def __init__(self, reference: LoopReference[{target}]) -> None:",
        "        self._reference = reference",
        "",
        "    def __repr__(self) -> str:",
        '        return f"blocking {self._reference!r}"',
    ]
    for name, kind in ATTRIBUTES.get(source.name, {}).items():
        text += ["", "    @property", f"    def {name}(self) -> {kind}:"]
        text.append(f"        return {kind}(self._reference.then(lambda wrapped: wrapped.{name}))")
    for method in module.methods(source.name):
        if not method.name.startswith("_") and method.name not in source.without:
            text += ["", _MethodWriter(method, source, module, imports).text()]
    return "\n".join(text) + "\n"


class _Module:
    """The source of one module, and the modules that its names are imported from."""

    def __init__(self, package: str, module: str) -> None:
        self.tree = ast.parse((ROOT / package / f"{module}.py").read_text("utf-8"))
        self.package = package
        init = ast.parse((ROOT / package / "__init__.py").read_text("utf-8"))
        self._exported = {alias.name for node in ast.walk(init) for alias in _aliases(node)}
        self._modules = dict(self._imported())

    def methods(self, name: str) -> list[Method]:
        classes = (node for node in self.tree.body if isinstance(node, ast.ClassDef))
        found = next(node for node in classes if node.name == name)
        return [node for node in found.body if isinstance(node, Method)]

    def module_of(self, name: str) -> str:
        """The module to import a name from; empty for builtins."""
        if name in self._modules:
            return self._modules[name]
        return f"kubeloop.{self.package}" if name in self._exported else ""

    def _imported(self) -> Iterator[tuple[str, str]]:
        for node in ast.walk(self.tree):
            for alias in _aliases(node):
                assert isinstance(node, ast.ImportFrom)
                relative = node.level > 0
                yield alias.name, f"kubeloop.{self.package}" if relative else str(node.module)


def _aliases(node: ast.AST) -> Iterable[ast.alias]:
    return node.names if isinstance(node, ast.ImportFrom) else ()


class _Imports:
    """The names that the classes use, and their imports."""

    def __init__(self) -> None:
        self.names = {"final"}
        self._modules: dict[str, str] = {
            "final": "typing",
            "Generic": "typing",
            "TypeVar": "typing",
        }
        self._type_variables: dict[str, str] = {"T": 'T = TypeVar("T")'}

    def add(self, names: Iterable[str], module: _Module) -> None:
        for name in names:
            if name in _GENERATED or name in _BODY_NAMES:
                self.names.add(name)
            elif (variable := _variable(name, module)) is not None:
                self._type_variables[name] = _source(variable)
                self.names.add(name)
                self.add(_strings(variable) - {name}, module)
            elif origin := module.module_of(name):
                self._modules[name] = origin
                self.names.add(name)

    def variables(self) -> list[str]:
        return [
            self._type_variables[name] for name in sorted(self.names & set(self._type_variables))
        ]

    def text(self) -> str:
        by_module: dict[str, set[str]] = {"typing": {"TYPE_CHECKING", "TypeVar"}}
        for name in self.names - set(self._type_variables) - _GENERATED:
            origin = _BODY_NAMES.get(name) or self._modules[name]
            by_module.setdefault(origin, set()).add(name)
        by_module["kubeloop"] = {source.package for source in SOURCES}
        by_module["kubeloop.blocking.reference"] = {"LoopReference"}
        # The models and the streams are large: imported for type checkers only.
        lazy_ones = ("kubeloop.wire.", "kubeloop.streams")
        models = {origin for origin in by_module if origin.startswith(lazy_ones)}
        first_party = {each for each in by_module if each.startswith("kubeloop")} - models
        standard = set(by_module) - models - first_party
        blocks = [
            "".join(_import(origin, by_module[origin]) for origin in sorted(each))
            for each in (standard, first_party)
        ]
        lazy = "".join(f"    {_import(origin, by_module[origin])}" for origin in sorted(models))
        return "\n".join(blocks) + f"\nif TYPE_CHECKING:\n{lazy}"


def _variable(name: str, module: _Module) -> ast.Assign | None:
    for node in module.tree.body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id == name
            and ast.unparse(node.value).startswith("TypeVar(")
        ):
            return node
    return None


# --- one method


class _MethodWriter:
    """Writes the blocking form of one async method."""

    def __init__(self, method: Method, source: Source, module: _Module, imports: _Imports) -> None:
        assert method.returns is not None
        result = _awaited(method.returns)  # a plain method that returns a coroutine is async too
        self._is_async = isinstance(method, ast.AsyncFunctionDef) or result is not None
        if result is not None:
            method.returns = result
        self._method = method
        self._source = source
        self._module = module
        self._imports = imports
        self._decorators = {ast.unparse(each) for each in method.decorator_list}
        self._returned = ast.unparse(method.returns)
        self._is_context = "asynccontextmanager" in self._decorators or self._returned.startswith(
            "AbstractAsyncContextManager["
        )
        self._items = "" if self._is_context else self._item_type(method.returns)

    def text(self) -> str:
        """The whole method, or both methods for a command."""
        if self._returned == "RemoteCommand":
            return f"{self._command('', 'ExecResult')}\n\n{self._command('open_', 'Process')}"
        start, end = f"    def {self._method.name}(", f") -> {self._returns()}:"
        if "overload" in self._decorators:
            self._imports.add(["overload"], self._module)
            return f"    @overload\n{_wrapped(start, self._parameters(), f'{end} ...')}"
        decorator = "    @property\n" if "property" in self._decorators else ""
        head = _wrapped(start, self._parameters(), end)
        return f"{decorator}{head}\n{self._docstring()}{self._body()}"

    def _command(self, prefix: str, returned: str) -> str:
        """The method that waits for a command, or with a prefix the one that opens it."""
        name = self._method.name
        self._imports.add([returned], self._module)
        if prefix:
            self._imports.add(["AbstractContextManager"], self._module)
            head_end = f") -> AbstractContextManager[{returned}]:"
            text = f"As `{name}`, for a block that talks to the program."
            docstring = f'        """{text}"""\n'
            body = self._statement("open", last=returned)
        else:
            head_end = f") -> {returned}:"
            docstring = self._docstring().replace(f"with pods.{name}(", f"with pods.open_{name}(")
            body = self._statement("call")
        head = _wrapped(f"    def {prefix}{name}(", self._parameters(), head_end)
        return f"{head}\n{docstring}{body}"

    # --- the signature

    def _item_type(self, returns: ast.expr) -> str:
        """The type of the items; empty if the method is not an iterator."""
        if self._returned.startswith(("AsyncIterator[", "AsyncGenerator[")):
            return _type_argument(self._type(returns)).removesuffix(", None")
        item = STREAMED.get(self._returned, "")
        self._imports.add({item} - {""}, _Module("rest", "watch"))
        return item

    def _returns(self) -> str:
        assert self._method.returns is not None
        if self._items:
            self._imports.add(["Stream"], self._module)
            return f"Stream[{self._items}]"
        found = self._type(self._method.returns)
        if self._is_context:
            self._imports.add(["AbstractContextManager"], self._module)
            return f"AbstractContextManager[{_type_argument(found)}]"
        return found

    def _parameters(self) -> list[str]:
        arguments = self._method.args
        plain = [*arguments.posonlyargs, *arguments.args]
        missing: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
        texts = [
            self._parameter(each, default)
            for each, default in zip(plain, [*missing, *arguments.defaults], strict=True)
        ]
        if arguments.posonlyargs:
            texts.insert(len(arguments.posonlyargs), "/")
        if arguments.vararg:
            texts.append(f"*{self._parameter(arguments.vararg, None)}")
        elif arguments.kwonlyargs:
            texts.append("*")
        return (
            texts
            + [
                self._parameter(each, default)
                for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            ]
            + ([f"**{self._parameter(arguments.kwarg, None)}"] if arguments.kwarg else [])
        )

    def _parameter(self, parameter: ast.arg, default: ast.expr | None) -> str:
        text = parameter.arg
        if parameter.annotation is not None:
            text += f": {self._type(parameter.annotation)}"
        if default is not None:
            self._imports.add(_names(default), self._module)
            text += f" = {_source(default)}"
        return text

    def _type(self, annotation: ast.expr) -> str:
        annotation = _WithoutAwaitable().apply(annotation)
        self._imports.add(_names(annotation) - _ASYNC_TYPES, self._module)
        return _source(annotation)

    def _docstring(self) -> str:
        text = ast.get_docstring(self._method)
        if not text:
            return ""
        for async_words, blocking_words in _WORDS:
            text = text.replace(async_words, blocking_words)
        closing = '\n"""' if "\n" in text else '"""'
        return textwrap.indent(f'"""{text}{closing}', " " * 8) + "\n"

    # --- the body

    def _body(self) -> str:
        returned = self._returned.partition("[")[0]
        if returned in _GENERATED:
            expression = "".join(_joined(self._async_call()))
            line = f"        return {returned}(self._reference.then(lambda wrapped: {expression}))"
            if len(line) <= WIDTH:
                return line
            return (
                f"        return {returned}(\n"
                f"            self._reference.then(lambda wrapped: {expression})\n        )"
            )
        if self._items:
            return self._statement("stream")
        if self._is_context:
            inner = _type_argument(self._returned)
            if inner in _WRAPPED:
                return self._statement("open", last=inner)
            return self._statement("context")
        return self._statement("call" if self._is_async else "read")

    def _statement(self, method: str, *, last: str = "") -> str:
        """The call of a method of the reference; `last` is its second argument."""
        head, arguments, tail = self._async_call()
        result = "" if self._returned == "None" else "return "
        whole = "".join(_joined((head, arguments, tail)))
        more = f", {last}" if last else ""
        line = f"        {result}self._reference.{method}(lambda wrapped: {whole}{more})"
        if len(line) <= WIDTH:
            return line
        inner = _wrapped(f"            lambda wrapped: {head}", arguments, tail)
        if last:
            inner += f",\n            {last},"
        return f"        {result}self._reference.{method}(\n{inner}\n        )"

    def _async_call(self) -> tuple[str, list[str], str]:
        """The call of the async method: its start, its arguments, its end."""
        name = self._method.name
        if "property" in self._decorators:
            return f"wrapped.{name}", [], ""
        arguments = self._method.args
        passed = [self._argument(each) for each in (*arguments.posonlyargs, *arguments.args)[1:]]
        if arguments.vararg:
            passed.append(f"*{arguments.vararg.arg}")
        passed += [f"{each.arg}={self._argument(each)}" for each in arguments.kwonlyargs]
        if arguments.kwarg:
            passed.append(f"**{arguments.kwarg.arg}")
        if self._items and self._is_async and not _yields(self._method):
            self._imports.add(["iterate_awaited"], self._module)
            return f"iterate_awaited(wrapped.{name}(", passed, "))"
        if self._is_overloaded():
            self._imports.add(["Callable", "cast"], self._module)
            result = self._items or self._returns()
            container = "AsyncIterator" if self._items else "Awaitable"
            self._imports.add([container], self._module)
            whole = f"Callable[..., {container}[{result}]]"
            return f'cast("{whole}", wrapped.{name})(', passed, ")"
        return f"wrapped.{name}(", passed, ")"

    def _argument(self, parameter: ast.arg) -> str:
        annotation = ast.unparse(parameter.annotation) if parameter.annotation else ""
        if "Callable[" in annotation and "Awaitable[" in annotation:
            self._imports.add(["in_caller_thread"], self._module)
            passed = f"in_caller_thread({parameter.arg})"
            return f"{parameter.arg} and {passed}" if annotation.endswith("| None") else passed
        return parameter.arg

    def _is_overloaded(self) -> bool:
        return any(
            method.name == self._method.name and method is not self._method
            for method in self._module.methods(self._source.name)
        )


def _awaited(returns: ast.expr) -> ast.expr | None:
    """The result of a coroutine; None for other types."""
    if isinstance(returns, ast.Subscript) and ast.unparse(returns.value) == "Coroutine":
        assert isinstance(returns.slice, ast.Tuple)
        return returns.slice.elts[-1]
    return None


# Words of the async docstrings, and their blocking forms.
_WORDS = (
    ("async with", "with"),
    ("async for", "for"),
    ("await ", ""),
    ("Safe to cancel", "Safe to interrupt"),
    ("A cancelled call", "An interrupted call"),
    (" (`contextlib.aclosing`)", " (or use `with`)"),
)


# --- annotations


class _WithoutAwaitable(ast.NodeTransformer):
    """Replaces `T | Awaitable[T]` with T: a blocking callback cannot be awaited."""

    def apply(self, annotation: ast.expr) -> ast.expr:
        changed = self.visit(copy.deepcopy(annotation))
        assert isinstance(changed, ast.expr)
        return changed

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if ast.unparse(one).startswith("Awaitable["):
                return other
        return node


def _names(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _strings(node: ast.AST) -> set[str]:
    constants = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
    return {value for value in constants if isinstance(value, str)}


def _yields(method: Method) -> bool:
    return any(isinstance(node, ast.Yield) for node in ast.walk(method))


def _source(node: ast.AST) -> str:
    return ast.unparse(node).replace("'", '"')


def _type_argument(text: str) -> str:
    """The text between the outermost brackets."""
    return text.partition("[")[2].removesuffix("]")


# --- layout, as ruff format


def _joined(parts: tuple[str, list[str], str]) -> tuple[str, str, str]:
    return parts[0], ", ".join(parts[1]), parts[2]


def _wrapped(head: str, items: Sequence[str], tail: str) -> str:
    """One line, or the items on a separate line, or one line per item."""
    line = f"{head}{', '.join(items)}{tail}"
    if len(line) <= WIDTH:
        return line
    indent = " " * (len(head) - len(head.lstrip()))
    inner = f"{indent}    {', '.join(items)}"
    if len(inner) <= WIDTH and len(items) > 1:
        return f"{head}\n{inner}\n{indent}{tail}"
    each = "".join(f"{indent}    {item},\n" for item in items)
    return f"{head}\n{each}{indent}{tail}"


def _import(module: str, names: set[str]) -> str:
    ordered = sorted(names, key=_rank)
    line = f"from {module} import {', '.join(ordered)}\n"
    if len(line) <= WIDTH + 1:
        return line
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in ordered) + ")\n"


def _rank(name: str) -> tuple[bool, bool, str]:
    """Constants first, then classes, then functions."""
    return not name.isupper(), not name[0].isupper(), name.casefold()


if __name__ == "__main__":
    sys.exit(main())
