"""Writes the blocking clients: a method for each method of the async classes, and no more.

    python tools/generate_blocking.py [--check]

A method is the async one's signature and one line that sends the call its way (`Route`). How
it goes is read off the signature: what is awaited is waited for, an async iterator becomes a
`Stream`, an async context manager a `Scope`, a class that is mirrored itself its mirror. A
function that may be async is called in the caller's thread. `--check` writes nothing and
fails when a file would change.
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


class Mirror(msgspec.Struct, frozen=True):
    """A class to mirror: where it is, and which of its methods are left out."""

    room: str
    module: str
    name: str
    generic: bool = False
    without: frozenset[str] = frozenset()
    reached_as: str = ""  # the type that the async side hands out, where that is a Protocol


MIRRORS = (
    Mirror(
        "clients",
        "resource",
        "ResourceClient",
        generic=True,
        without=frozenset({"raw"}),  # bytes for caches, which live in the loop
    ),
    Mirror("clients", "subresources", "SubresourceClient", generic=True),
    Mirror("clients", "metadata", "MetadataClient", without=frozenset({"raw"})),
    Mirror("clients", "scale", "ScaleClient"),
    Mirror("clients", "subresources", "Proxy"),
    Mirror("discovery", "client", "DiscoveryClient"),
    Mirror("discovery", "client", "OpenApiV3"),
    Mirror("discovery", "deferred_mapper", "DeferredMapper"),
    Mirror(
        "rest",
        "client",
        "RESTClient",
        without=frozenset({"aclose", "clock", "codec", "max_retries", "websocket"}),
        reached_as="RequestSender",
    ),
)

# What a class of the async side gives one by one, where its annotation does not say.
STREAMED = {"Watch": "RawEvent", "ByteStream": "bytes", "ItemStream": "bytes"}
# The attributes that are no properties there.
ATTRIBUTES = {"DiscoveryClient": {"openapi": "OpenApiV3"}}

# What the methods need besides the names in their signatures.
_OURS = {
    "AbstractContextManager": "contextlib",
    "Awaitable": "collections.abc",
    "Callable": "collections.abc",
    "Stream": "kubeloop.blocking.stream",
    "awaited": "kubeloop.blocking.stream",
    "cast": "typing",
    "here": "kubeloop.blocking.calls",
}

# What the blocking side replaces by its own.
_ASYNC_TYPES = {"AbstractAsyncContextManager", "AsyncGenerator", "AsyncIterator"}

_MIRRORED = {mirror.name for mirror in MIRRORS}
_OPENING = "# Generated from the async classes by tools/generate_blocking.py. Do not edit."

_HEAD = '''\
"""The async classes for code that waits: each method is the async one, waited for."""

# ruff: noqa: A002 - the API's own words

from __future__ import annotations

'''


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or compare; the answer is the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--out", type=Path, default=ROOT / "blocking" / "_generated")
    options = parser.parse_args(arguments)
    changed = 0
    for name, text in render().items():
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
    """The files by their name."""
    return {
        "__init__.py": f"{_OPENING}\n",
        "clientset.py": _clientset(),
        "mirrors.py": _mirrors(),
    }


# --- the clientset: the async one, with another ResourceClient


def _clientset() -> str:
    text = (ROOT / "clients" / "_generated" / "clientset.py").read_text("utf-8")
    _, _, body = text.partition("\n")
    theirs = "from kubeloop.clients.resource import ResourceClient"
    assert body.count(theirs) == 1, "the clientset imports its client in another way"
    ours = "from kubeloop.blocking._generated.mirrors import ResourceClient"
    return f"{_OPENING}\n{body.replace(theirs, ours)}"


# --- the classes


def _mirrors() -> str:
    uses = _Uses()
    classes = [_class(mirror, uses) for mirror in MIRRORS]
    exported = "".join(f'    "{name}",\n' for name in sorted(_MIRRORED))
    variables = "".join(f"{line}\n" for line in uses.variables())
    return (
        f"{_OPENING}\n\n{_HEAD}{uses.imports()}\n__all__ = [\n{exported}]\n\n{variables}"
        + "".join(f"\n\n{text}" for text in classes)
    )


def _class(mirror: Mirror, uses: _Uses) -> str:
    text = ["@final"]
    it = f"{mirror.room}.{mirror.reached_as or mirror.name}"
    if mirror.generic:
        text.append(f"class {mirror.name}(Generic[T]):")
        it += "[T]"
        uses.names |= {"Generic", "T"}
    else:
        text.append(f"class {mirror.name}:")
    source = _Module(mirror.room, mirror.module)
    text += [
        f'    """As `kubeloop.{mirror.room}.{mirror.name}`, waited for."""',
        "",
        '    __slots__ = ("_route",)',
        "",
        f"    def __init__(self, route: Route[{it}]) -> None:",
        "        self._route = route",
        "",
        "    def __repr__(self) -> str:",
        '        return f"blocking {self._route!r}"',
    ]
    for name, kind in ATTRIBUTES.get(mirror.name, {}).items():
        text += ["", "    @property", f"    def {name}(self) -> {kind}:"]
        text.append(f"        return {kind}(self._route.then(lambda to: to.{name}))")
    for method in source.methods(mirror.name):
        if not method.name.startswith("_") and method.name not in mirror.without:
            text += ["", _Rendered(method, mirror, source, uses).text()]
    return "\n".join(text) + "\n"


class _Module:
    """The source of one module, and where its names come from."""

    def __init__(self, room: str, module: str) -> None:
        self.tree = ast.parse((ROOT / room / f"{module}.py").read_text("utf-8"))
        self.room = room
        door = ast.parse((ROOT / room / "__init__.py").read_text("utf-8"))
        self._door = {alias.name for node in door.body for alias in _aliases(node)}
        self._homes = dict(self._imported())

    def methods(self, name: str) -> list[Method]:
        classes = (node for node in self.tree.body if isinstance(node, ast.ClassDef))
        found = next(node for node in classes if node.name == name)
        return [node for node in found.body if isinstance(node, Method)]

    def home_of(self, name: str) -> str:
        """The module that a name is to be imported from; none for what is built in."""
        if name in self._homes:
            return self._homes[name]
        return f"kubeloop.{self.room}" if name in self._door else ""

    def _imported(self) -> Iterator[tuple[str, str]]:
        for node in ast.walk(self.tree):
            for alias in _aliases(node):
                assert isinstance(node, ast.ImportFrom)
                relative = node.level > 0
                yield alias.name, f"kubeloop.{self.room}" if relative else str(node.module)


def _aliases(node: ast.AST) -> Iterable[ast.alias]:
    return node.names if isinstance(node, ast.ImportFrom) else ()


class _Uses:
    """The names that the classes need, and their imports."""

    def __init__(self) -> None:
        self.names = {"final"}
        self._homes: dict[str, str] = {"final": "typing", "Generic": "typing", "TypeVar": "typing"}
        self._bounds: dict[str, str] = {"T": 'T = TypeVar("T")'}

    def add(self, names: Iterable[str], module: _Module) -> None:
        for name in names:
            if name in _MIRRORED or name in _OURS:
                self.names.add(name)
            elif (variable := _variable(name, module)) is not None:
                self._bounds[name] = _source(variable)
                self.names.add(name)
                self.add(_texts(variable) - {name}, module)
            elif home := module.home_of(name):
                self._homes[name] = home
                self.names.add(name)

    def variables(self) -> list[str]:
        return [self._bounds[name] for name in sorted(self.names & set(self._bounds))]

    def imports(self) -> str:
        typing = {"TYPE_CHECKING", "TypeVar"}
        homes: dict[str, set[str]] = {"typing": typing}
        for name in self.names - set(self._bounds) - _MIRRORED:
            homes.setdefault(_OURS.get(name) or self._homes[name], set()).add(name)
        homes["kubeloop"] = {mirror.room for mirror in MIRRORS}
        homes["kubeloop.blocking.route"] = {"Route"}
        lazy = {home for home in homes if home.startswith("kubeloop.wire.")}  # large, and many
        first = {home for home in homes if home.startswith("kubeloop")} - lazy
        standard = set(homes) - lazy - first
        blocks = [
            "".join(_import(home, homes[home]) for home in sorted(each))
            for each in (standard, first)
        ]
        checked = "".join(f"    {_import(home, homes[home])}" for home in sorted(lazy))
        return "\n".join(blocks) + f"\nif TYPE_CHECKING:\n{checked}"


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


class _Rendered:
    """A method of the async side, in the words of the blocking one."""

    def __init__(self, method: Method, mirror: Mirror, module: _Module, uses: _Uses) -> None:
        assert method.returns is not None
        self._method = method
        self._mirror = mirror
        self._module = module
        self._uses = uses
        self._marks = {ast.unparse(each) for each in method.decorator_list}
        self._returned = ast.unparse(method.returns)
        self._is_async = isinstance(method, ast.AsyncFunctionDef)
        self._is_block = "asynccontextmanager" in self._marks or self._returned.startswith(
            "AbstractAsyncContextManager["
        )
        self._items = "" if self._is_block else self._streamed(method.returns)

    def text(self) -> str:
        """The whole method."""
        beginning, end = f"    def {self._method.name}(", f") -> {self._returns()}:"
        if "overload" in self._marks:
            self._uses.add(["overload"], self._module)
            return f"    @overload\n{_wrapped(beginning, self._parameters(), f'{end} ...')}"
        mark = "    @property\n" if "property" in self._marks else ""
        head = _wrapped(beginning, self._parameters(), end)
        return f"{mark}{head}\n{self._docstring()}{self._body()}"

    # --- what it says of itself

    def _streamed(self, returns: ast.expr) -> str:
        """What comes one by one; empty where the method gives one result."""
        if self._returned.startswith(("AsyncIterator[", "AsyncGenerator[")):
            return _argument(self._type(returns)).removesuffix(", None")
        item = STREAMED.get(self._returned, "")
        self._uses.add({item} - {""}, _Module("rest", "watch"))
        return item

    def _returns(self) -> str:
        assert self._method.returns is not None
        if self._items:
            self._uses.add(["Stream"], self._module)
            return f"Stream[{self._items}]"
        found = self._type(self._method.returns)
        if self._is_block:
            self._uses.add(["AbstractContextManager"], self._module)
            return f"AbstractContextManager[{_argument(found)}]"
        return found

    def _parameters(self) -> list[str]:
        found = self._method.args
        plain = [*found.posonlyargs, *found.args]
        missing: list[ast.expr | None] = [None] * (len(plain) - len(found.defaults))
        texts = [
            self._parameter(each, default)
            for each, default in zip(plain, [*missing, *found.defaults], strict=True)
        ]
        if found.posonlyargs:
            texts.insert(len(found.posonlyargs), "/")
        if found.vararg:
            texts.append(f"*{self._parameter(found.vararg, None)}")
        elif found.kwonlyargs:
            texts.append("*")
        return (
            texts
            + [
                self._parameter(each, default)
                for each, default in zip(found.kwonlyargs, found.kw_defaults, strict=True)
            ]
            + ([f"**{self._parameter(found.kwarg, None)}"] if found.kwarg else [])
        )

    def _parameter(self, parameter: ast.arg, default: ast.expr | None) -> str:
        text = parameter.arg
        if parameter.annotation is not None:
            text += f": {self._type(parameter.annotation)}"
        if default is not None:
            self._uses.add(_names(default), self._module)
            text += f" = {_source(default)}"
        return text

    def _type(self, annotation: ast.expr) -> str:
        annotation = _NotAwaited().done(annotation)
        self._uses.add(_names(annotation) - _ASYNC_TYPES, self._module)
        return _source(annotation)

    def _docstring(self) -> str:
        text = ast.get_docstring(self._method)
        if not text:
            return ""
        for there, ours in _WORDS:
            text = text.replace(there, ours)
        closing = '\n"""' if "\n" in text else '"""'
        return textwrap.indent(f'"""{text}{closing}', " " * 8) + "\n"

    # --- what it does

    def _body(self) -> str:
        mirrored = self._returned.partition("[")[0]
        if mirrored in _MIRRORED:
            asked = "".join(_joined(self._asked()))
            return f"        return {mirrored}(self._route.then(lambda to: {asked}))"
        if self._items:
            return self._sent("stream")
        if self._is_block:
            return self._sent("scope")
        return self._sent("call" if self._is_async else "read")

    def _sent(self, way: str) -> str:
        head, arguments, tail = self._asked()
        gives = "" if self._returned == "None" else "return "
        whole = "".join(_joined((head, arguments, tail)))
        line = f"        {gives}self._route.{way}(lambda to: {whole})"
        if len(line) <= WIDTH:
            return line
        inner = _wrapped(f"            lambda to: {head}", arguments, tail)
        return f"        {gives}self._route.{way}(\n{inner}\n        )"

    def _asked(self) -> tuple[str, list[str], str]:
        """The call over there: its beginning, its arguments, its end."""
        name = self._method.name
        if "property" in self._marks:
            return f"to.{name}", [], ""
        found = self._method.args
        given = [self._given(each) for each in (*found.posonlyargs, *found.args)[1:]]
        if found.vararg:
            given.append(f"*{found.vararg.arg}")
        given += [f"{each.arg}={self._given(each)}" for each in found.kwonlyargs]
        if found.kwarg:
            given.append(f"**{found.kwarg.arg}")
        if self._items and self._is_async and not _yields(self._method):
            self._uses.add(["awaited"], self._module)
            return f"awaited(to.{name}(", given, "))"
        if self._is_overloaded():
            self._uses.add(["Awaitable", "Callable", "cast"], self._module)
            whole = f"Callable[..., Awaitable[{self._returns()}]]"
            return f'cast("{whole}", to.{name})(', given, ")"
        return f"to.{name}(", given, ")"

    def _given(self, parameter: ast.arg) -> str:
        annotation = ast.unparse(parameter.annotation) if parameter.annotation else ""
        if "Callable[" in annotation and "Awaitable[" in annotation:
            self._uses.add(["here"], self._module)
            return f"here({parameter.arg})"
        return parameter.arg

    def _is_overloaded(self) -> bool:
        return any(
            method.name == self._method.name and method is not self._method
            for method in self._module.methods(self._mirror.name)
        )


# Words of the async side, and what they are here.
_WORDS = (
    ("async with", "with"),
    ("async for", "for"),
    ("await ", ""),
    ("Safe to cancel", "Safe to interrupt"),
    ("A cancelled call", "An interrupted call"),
    (" (`contextlib.aclosing`)", " (or use `with`)"),
)


# --- small changes to annotations


class _Change(ast.NodeTransformer):
    def done(self, annotation: ast.expr) -> ast.expr:
        changed = self.visit(copy.deepcopy(annotation))
        assert isinstance(changed, ast.expr)
        return changed


class _NotAwaited(_Change):
    """`T | Awaitable[T]` is T: here nobody can await it."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if ast.unparse(one).startswith("Awaitable["):
                return other
        return node


def _names(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _texts(node: ast.AST) -> set[str]:
    constants = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
    return {value for value in constants if isinstance(value, str)}


def _yields(method: Method) -> bool:
    return any(isinstance(node, ast.Yield) for node in ast.walk(method))


def _source(node: ast.AST) -> str:
    return ast.unparse(node).replace("'", '"')


def _argument(text: str) -> str:
    """What stands between the outermost brackets."""
    return text.partition("[")[2].removesuffix("]")


# --- layout, as the formatter would have it


def _joined(parts: tuple[str, list[str], str]) -> tuple[str, str, str]:
    return parts[0], ", ".join(parts[1]), parts[2]


def _wrapped(head: str, items: Sequence[str], tail: str) -> str:
    """On one line, or the items on a line of their own, or each on one."""
    line = f"{head}{', '.join(items)}{tail}"
    if len(line) <= WIDTH:
        return line
    indent = " " * (len(head) - len(head.lstrip()))
    within = f"{indent}    {', '.join(items)}"
    if len(within) <= WIDTH and len(items) > 1:
        return f"{head}\n{within}\n{indent}{tail}"
    each = "".join(f"{indent}    {item},\n" for item in items)
    return f"{head}\n{each}{indent}{tail}"


def _import(home: str, names: set[str]) -> str:
    ordered = sorted(names, key=_rank)
    line = f"from {home} import {', '.join(ordered)}\n"
    if len(line) <= WIDTH + 1:
        return line
    return f"from {home} import (\n" + "".join(f"    {name},\n" for name in ordered) + ")\n"


def _rank(name: str) -> tuple[bool, bool, str]:
    """Constants, then classes, then functions."""
    return not name.isupper(), not name[0].isupper(), name.casefold()


if __name__ == "__main__":
    sys.exit(main())
