"""Counts the uses of private attributes of other modules: `client._collection`.

    python tools/private_reaches.py         # fails if there are more than MAXIMUM
    python tools/private_reaches.py --list  # prints each

A use counts if its object is not `self` or `cls`, and if the module of the use does not define the
name: as a function, a class, a variable or an attribute of `self`. `core` of a service counts as
private outside the embedded server. Generated files do not count, nor do the attributes of the
standard library in `STANDARD_LIBRARY`, each with its reason.

`MAXIMUM` is lowered as uses go, and never raised: pass a value, or give the class a method.
See also: the import contracts in `pyproject.toml`, which check the names of modules.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAXIMUM = 3

STANDARD_LIBRARY = {
    "_replace": "documented: a method of a named tuple",
    "_fields": "documented: of the nodes of `ast`",
    "_exit": "documented: `os._exit`",
    "_getframe": "documented: `sys._getframe`",
    "_get_running_loop": "documented for event loops; does not raise if there is none",
    "_log_destroy_pending": "there is no other way to drop a task without a log line",
    "_log_traceback": "there is no other way to see that the error of a task was never read",
    "_context": "the simulated loop decides by the context of a callback whether it runs",
    "_scheduled": "the simulated loop fills the heap of timers of its base class",
    "_when": "the simulated loop orders timers of the same time",
}
SERVER = ROOT / "packages/kubeloop-testing/src/kubeloop_testing/server"
# Most files have none, and parsing them all takes a while.
CANDIDATE = re.compile(r"(?<!\bself)(?<!\bcls)\._[a-z]|service\.core\b")


def uses(tree: ast.Module, *, of_server: bool = False) -> Iterator[ast.Attribute]:
    """The private attributes of other modules that a module uses."""
    own = {*_defined_names(tree), *STANDARD_LIBRARY}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                pass
            case ast.Attribute(attr=name) if _is_private(name) and name not in own:
                yield node
            case ast.Attribute(
                attr="core",
                value=ast.Attribute(attr="service" | "_service") | ast.Name(id="service"),
            ) if not of_server:
                yield node


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def _defined_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                yield name


def main() -> int:
    parser = argparse.ArgumentParser(description="Count the uses of private attributes.")
    parser.add_argument("--list", action="store_true", help="print each use")
    lines = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
        for path in sorted(ROOT.glob("packages/*/src/**/*.py"))
        if "_generated" not in path.parts
        if CANDIDATE.search(text := path.read_text(encoding="utf-8"))
        for node in uses(ast.parse(text), of_server=path.is_relative_to(SERVER))
    ]
    if parser.parse_args().list or len(lines) > MAXIMUM:
        print("\n".join(lines))
    print(f"{len(lines)} uses of private attributes of other modules, at most {MAXIMUM}")
    return int(len(lines) > MAXIMUM)


if __name__ == "__main__":
    sys.exit(main())
