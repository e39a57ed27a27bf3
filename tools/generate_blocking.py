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
import functools
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parent.parent / "packages/kubeloop/src/kubeloop"

Method = ast.FunctionDef | ast.AsyncFunctionDef


class Source(msgspec.Struct, frozen=True):
    """An async class to generate from, and the methods to skip."""

    package: str
    module: str
    name: str
    without: frozenset[str] = frozenset()
    protocol: str = ""  # the declared type, if the async side returns a Protocol


# In `clients`, a class after its base.
SOURCES = (
    Source("clients", "object_client", "ObjectClient"),
    Source("clients", "subresources", "SubresourceClient"),
    Source("clients", "subresources", "ScaleSubresource"),
    Source(
        "clients",
        "resource",
        "ResourceClient",
        without=frozenset({"raw"}),  # bytes for caches, which run in the loop
    ),
    Source("clients", "pods", "PodClient"),
    *(
        Source("clients", "kinds", f"{kind}Client")
        for kind in [
            "Scalable",
            "Workload",
            "DaemonSet",
            "Node",
            "Service",
            "ServiceAccount",
            "Namespace",
            "CertificateSigningRequest",
        ]
    ),
    Source("clients", "metadata", "MetadataClient", without=frozenset({"raw"})),
    Source("clients", "scale", "ScaleClient"),
    Source("clients", "subresources", "Proxy"),
    Source("clients", "rollout", "Rollout"),
    Source("clients", "client", "DynamicClient"),
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
# In `client`: the methods of one class, which the client extends by its lifecycle.
CLIENT_SOURCES = (
    Source("clients", "client", "APIClient", without=frozenset({"aclose"})),
    # The others are for the manager, which runs in the loop.
    Source("runtime", "client", "Client", without=frozenset({"list_watch", "over"})),
)
CLIENT = "ClientVerbs"

# The class of what a method returns, if its arguments decide.
FORMS = {
    ("APIClient", "resource"): "resource_form(what)",
    ("ResourceClient", "subresource"): (
        'ScaleSubresource if name == "scale" else SubresourceClient'
    ),
}

# The items of async classes that are iterators without a type parameter.
STREAMED = {"Watch": "RawEvent", "ByteStream": "bytes", "ItemStream": "bytes"}
# Attributes of the async classes that are not properties.
ATTRIBUTES = {"DiscoveryClient": {"openapi": "OpenApiV3"}}

# Names that the bodies of the methods need.
_BODY_NAMES = {
    "AbstractContextManager": "contextlib",
    "AsyncIterator": "collections.abc",
    "Awaitable": "collections.abc",
    "Callable": "collections.abc",
    "ExecResult": "kubeloop.streams",
    "Clientset": "kubeloop.blocking._generated.clientset",
    "PortConnection": "kubeloop.blocking.process",
    "Process": "kubeloop.blocking.process",
    "SharedInformer": "kubeloop.blocking.informer",
    "Stream": "kubeloop.blocking.stream",
    "cast": "typing",
    "in_caller_thread": "kubeloop.blocking.calls",
    "iterate_awaited": "kubeloop.blocking.stream",
    "resource_form": "kubeloop.blocking._generated.clients",
}

# Types that only the async side uses.
_ASYNC_TYPES = {"AbstractAsyncContextManager", "AsyncGenerator", "AsyncIterator"}
# Values of context managers that have a blocking form of their own.
_WRAPPED = {"PortConnection", "Process"}

_GENERATED = {source.name for source in SOURCES}
# Async classes with a blocking form, by the type that the async side declares.
_FORM_OF = {source.protocol or source.name: source.name for source in SOURCES} | {
    "SharedInformer": "SharedInformer"
}
_FIRST_LINE = "# Generated from the async classes by tools/generate_blocking.py. Do not edit."

_HEAD = '''\
"""The blocking forms of the async classes: each method runs the async one and waits for it."""

# ruff: noqa: {rules}

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
        "client.py": _client(),
    }


# --- the clientset: that of the async clients, with the blocking ResourceClient


def _clientset() -> str:
    text = (ROOT / "clients" / "_generated" / "clientset.py").read_text("utf-8")
    _, _, body = text.partition("\n")
    resource = "    from kubeloop.clients.resource import ResourceClient\n"
    kinds = "    from kubeloop.clients.kinds import (\n"
    assert body.count(resource) == body.count(kinds) == 1, "the clientset has other imports"
    first = "        ScalableClient,\n"
    body = body.replace(resource, "").replace(first, f"        ResourceClient,\n{first}")
    blocking = "    from kubeloop.blocking._generated.clients import (\n"
    return f"{_FIRST_LINE}\n{body.replace(kinds, blocking)}"


# --- the classes


def _clients() -> str:
    imports = _Imports({source.name for source in SOURCES})
    classes = [_class(source, imports) for source in SOURCES]
    imports.names.add("Any")
    # The kinds whose clients have a class of their own.
    names = "".join(
        f'    "{each.name}": {each.name},\n' for each in SOURCES if each.module in {"kinds", "pods"}
    )
    classes.append(
        f"_FORMS: dict[str, type[ResourceClient[Any]]] = {{\n{names}}}\n\n\n"
        "def resource_form(kind: object) -> type[ResourceClient[Any]]:\n"
        '    """The class of the clients of a kind."""\n'
        "    if not isinstance(kind, type):\n"
        "        return ResourceClient\n"
        "    return _FORMS.get(clients.client_class(kind).__name__, ResourceClient)\n"
    )
    return _file(imports, classes, sorted({*_GENERATED, "resource_form"}, key=_rank))


def _client() -> str:
    imports = _Imports({CLIENT})
    imports.add(["Clientset"], _Module("clients", "client"))
    text = [
        f"class {CLIENT}(Clientset):",
        '    """The blocking form of the methods of `kubeloop.Client`."""',
        "",
        "    _reference: LoopReference[runtime.Client]",
    ]
    for source in CLIENT_SOURCES:
        text += _methods(source, _Module(source.package, source.module), imports)
    return _file(imports, ["\n".join(text) + "\n"], [CLIENT])


def _file(imports: _Imports, classes: Sequence[str], exported: Sequence[str]) -> str:
    names = ", ".join(f'"{name}"' for name in exported)
    variables = "".join(f"{line}\n" for line in imports.variables())
    body = "".join(f"\n\n{text}" for text in classes)
    # Names of the API; and the type arguments of bases, which are text.
    head = _HEAD.format(rules="A002" if exported == [CLIENT] else "A002, F401")
    packages = ("cache", "clients", "discovery", "rest", "runtime")
    imports.packages = {each for each in packages if re.search(rf"(?<![.\w]){each}\.\w", body)}
    text = f"{_FIRST_LINE}\n\n{head}{imports.text()}\n__all__ = [{names}]\n\n{variables}{body}"
    return _formatted(text)


def _class(source: Source, imports: _Imports) -> str:
    module = _Module(source.package, source.module)
    node = module.class_of(source.name)
    base = next(
        (each for each in map(_source, node.bases) if each.partition("[")[0] in _GENERATED), ""
    )
    is_generic = any("[T]" in _source(each) for each in node.bases)
    target = f"{source.package}.{source.protocol or source.name}{'[T]' if is_generic else ''}"
    if is_generic:
        imports.names |= {"Generic", "T"} if not base else {"T"}
    if base:
        expression = ast.parse(base, mode="eval").body
        imports.add(_names(expression) | _strings(expression), module)
    text = []
    if "final" in map(ast.unparse, node.decorator_list):
        imports.names.add("final")
        text.append("@final")
    text.append(
        f"class {source.name}{f'({base})' if base else '(Generic[T])' if is_generic else ''}:"
    )
    text.append(f'    """The blocking form of `kubeloop.{source.package}.{source.name}`."""')
    if base:
        text += ["", "    __slots__ = ()", "", f"    _reference: LoopReference[{target}]"]
    else:
        text += [
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
    return "\n".join([*text, *_methods(source, module, imports)]) + "\n"


def _methods(source: Source, module: _Module, imports: _Imports) -> list[str]:
    text = []
    for method in module.methods(source.name):
        if not method.name.startswith("_") and method.name not in source.without:
            text += ["", _MethodWriter(method, source, module, imports).text()]
    return text


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


class _Module:
    """The source of one module, and the modules that its names are imported from."""

    def __init__(self, package: str, module: str) -> None:
        self.tree = _tree(ROOT / package / f"{module}.py")
        self.package = package
        init = _tree(ROOT / package / "__init__.py")
        self._exported = {alias.name for node in ast.walk(init) for alias in _aliases(node)}
        self._modules = dict(self._imported())

    def class_of(self, name: str) -> ast.ClassDef:
        classes = (node for node in self.tree.body if isinstance(node, ast.ClassDef))
        return next(node for node in classes if node.name == name)

    def methods(self, name: str) -> list[Method]:
        return [node for node in self.class_of(name).body if isinstance(node, Method)]

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

    def __init__(self, local: Iterable[str]) -> None:
        self.names: set[str] = set()
        self.packages: set[str] = set()
        self._local = set(local)  # classes of the file itself
        self._eager = {"clients"}  # needed when the file is imported, or when a method is called
        self._modules: dict[str, str] = {
            "Any": "typing",
            "final": "typing",
            "Generic": "typing",
            "TypeVar": "typing",
        }
        self._type_variables: dict[str, str] = {"T": 'T = TypeVar("T")'}

    def add(self, names: Iterable[str], module: _Module, *, eager: bool = False) -> None:
        for name in names:
            if eager:
                self._eager.add(name)
            if name in _GENERATED or name in _BODY_NAMES:
                self.names.add(name)
            elif (variable := _variable(name, module)) is not None:
                self._type_variables[name] = _source(variable)
                self.names.add(name)
                self.add(_strings(variable) - {name}, module)
                self.add(_names(variable.value), module, eager=True)
            elif origin := module.module_of(name):
                self._modules[name] = origin
                self.names.add(name)

    def variables(self) -> list[str]:
        return [
            self._type_variables[name] for name in sorted(self.names & set(self._type_variables))
        ]

    def text(self) -> str:
        names = self.names - set(self._type_variables) - self._local
        imported = {(self._origin(name), name) for name in names}
        imported |= {("typing", "TYPE_CHECKING"), ("typing", "TypeVar")}
        imported |= {("kubeloop.blocking.reference", "LoopReference")}
        imported |= {("kubeloop", package) for package in self.packages}
        # What only annotations need is large: imported for type checkers.
        lazy = {each for each in imported if self._is_lazy(*each)}
        eager = "".join(map(_import, sorted(imported - lazy)))
        return f"{eager}\nif TYPE_CHECKING:\n" + "".join(
            f"    {_import(each)}" for each in sorted(lazy)
        )

    def _origin(self, name: str) -> str:
        if name in _GENERATED:
            return "kubeloop.blocking._generated.clients"
        return _BODY_NAMES.get(name) or self._modules[name]

    def _is_lazy(self, origin: str, name: str) -> bool:
        is_other = origin.startswith("kubeloop") and not origin.startswith("kubeloop.blocking.")
        return is_other and name not in self._eager


def _import(imported: tuple[str, str]) -> str:
    return f"from {imported[0]} import {imported[1]}\n"


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
        self._result = result or method.returns
        self._method = method
        self._source = source
        self._module = module
        self._imports = imports
        self._decorators = {ast.unparse(each) for each in method.decorator_list}
        self._is_property = bool(self._decorators & {"property", "cached_property"})
        self._returned = ast.unparse(self._result)
        self._is_context = "asynccontextmanager" in self._decorators or self._returned.startswith(
            "AbstractAsyncContextManager["
        )
        self._items = "" if self._is_context else self._item_type(self._result)

    def text(self) -> str:
        """The whole method, or both methods for a command."""
        if self._returned == "RemoteCommand":
            return f"{self._command('', 'ExecResult')}\n\n{self._command('open_', 'Process')}"
        head = f"    def {self._method.name}({self._parameters()}) -> {self._returns()}:"
        if "overload" in self._decorators:
            self._imports.add(["overload"], self._module)
            return f"    @overload\n{head} ..."
        decorator = "    @property\n" if self._is_property else ""
        return f"{decorator}{head}\n{self._docstring()}{self._body()}"

    def _command(self, prefix: str, returned: str) -> str:
        """The method that waits for a command, or with a prefix the one that opens it."""
        name = self._method.name
        self._imports.add([returned], self._module)
        if prefix:
            self._imports.add(["AbstractContextManager"], self._module)
            returns = f"AbstractContextManager[{returned}]"
            text = f"As `{name}`, for a block that talks to the program."
            docstring = f'        """{text}"""\n'
            body = self._statement("open", last=returned)
        else:
            returns = returned
            docstring = self._docstring().replace(f"with pods.{name}(", f"with pods.open_{name}(")
            body = self._statement("call")
        head = f"    def {prefix}{name}({self._parameters()}) -> {returns}:"
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
        if self._items:
            self._imports.add(["Stream"], self._module)
            return f"Stream[{self._items}]"
        if self._returned in _FORM_OF:
            form = _FORM_OF[self._returned]
            self._imports.add([form], self._module)
            return form
        returns = self._type(self._result)
        if self._is_context:
            self._imports.add(["AbstractContextManager"], self._module)
            return f"AbstractContextManager[{_type_argument(returns)}]"
        return returns

    def _parameters(self) -> str:
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
        texts += [
            self._parameter(each, default)
            for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        ]
        if arguments.kwarg:
            texts.append(f"**{self._parameter(arguments.kwarg, None)}")
        return ", ".join(texts)

    def _parameter(self, parameter: ast.arg, default: ast.expr | None) -> str:
        text = parameter.arg
        if parameter.annotation is not None:
            text += f": {self._type(parameter.annotation)}"
        if default is not None:
            self._imports.add(_names(default), self._module, eager=True)
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
        form = _FORM_OF.get(self._returned.partition("[")[0], "")
        if self._returned == "Self":
            form = "type(self)"
        if form:
            chosen = FORMS.get((self._source.name, self._method.name), "")
            first = ""
            if chosen:
                self._imports.add(_names(ast.parse(chosen, mode="eval").body), self._module)
                first = f"        form: type[{self._returns()}] = {chosen}\n"
                form = "form"
            then = f"self._reference.then(lambda wrapped: {self._async_call()})"
            return f"{first}        return {form}({then})"
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
        result = "" if self._returned == "None" else "return "
        more = f", {last}" if last else ""
        return (
            f"        {result}self._reference.{method}(lambda wrapped: {self._async_call()}{more})"
        )

    def _async_call(self) -> str:
        """The call of the async method."""
        name = self._method.name
        if self._is_property:
            return f"wrapped.{name}"
        arguments = self._method.args
        passed = [self._argument(each) for each in (*arguments.posonlyargs, *arguments.args)[1:]]
        if arguments.vararg:
            passed.append(f"*{arguments.vararg.arg}")
        passed += [f"{each.arg}={self._argument(each)}" for each in arguments.kwonlyargs]
        if arguments.kwarg:
            passed.append(f"**{arguments.kwarg.arg}")
        call = f"wrapped.{name}({', '.join(passed)})"
        if self._items and self._is_async and not _yields(self._method):
            self._imports.add(["iterate_awaited"], self._module)
            return f"iterate_awaited({call})"
        if self._is_overloaded():
            self._imports.add(["Callable", "cast"], self._module)
            whole = f"Callable[..., {self._async_result()}]"
            return f'cast("{whole}", wrapped.{name})({", ".join(passed)})'
        return call

    def _async_result(self) -> str:
        """What an overloaded async method returns."""
        returned = self._returned.partition("[")[0]
        if returned in _FORM_OF:
            package = "cache" if returned == "SharedInformer" else "clients"
            return f"{package}.{self._returned}"
        container = "AsyncIterator" if self._items else "Awaitable"
        self._imports.add([container], self._module)
        return f"{container}[{self._items or self._returns()}]"

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


def _rank(name: str) -> tuple[bool, bool, str]:
    """Constants first, then classes, then functions."""
    return not name.isupper(), not name[0].isupper(), name


def _formatted(text: str) -> str:
    """The text in the layout of the repository."""
    for command in (("check", "--fix", "--quiet", "--select=I"), ("format", "--quiet")):
        ran = subprocess.run(
            [sys.executable, "-m", "ruff", *command, f"--stdin-filename={ROOT}/client.py", "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        text = ran.stdout
    return text


if __name__ == "__main__":
    sys.exit(main())
