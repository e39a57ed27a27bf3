"""Adds pages of top-level files, and generated tables, to the documentation site.

mkdocs calls the functions named `on_…` (see `hooks` in `mkdocs.yml`). A page marks the place
of a generated table with `<!-- made: kinds -->`; `MAKERS` has the functions.
Guarantees: a link that works in the repository works on the site, or is plain text there.
See also: `docs_structs` (models in the reference), mkdocstrings (the rest of the reference).
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import kubeloop
from kubeloop.wire import KubeError, ResourceInfo, class_for, resources

if TYPE_CHECKING:  # the tests of this module need no mkdocs
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

__all__ = [
    "MAKERS",
    "errors",
    "examples",
    "kinds",
    "metrics",
    "on_files",
    "on_page_markdown",
    "page_of",
]

ROOT = Path(__file__).parent.parent

# Top-level files and their pages.
AT_THE_TOP = {
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the top-level files to the pages; mkdocs calls it with the files of `docs/`."""
    from mkdocs.structure.files import File

    for name, page in AT_THE_TOP.items():
        text = page_of((ROOT / name).read_text("utf-8"))
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Insert the generated tables; mkdocs calls it with the text of each page."""
    return re.sub(r"<!-- made: (\w+) -->", lambda found: MAKERS[found[1]](), markdown)


# --- top-level files


def page_of(text: str) -> str:
    """The text of a top-level file, with links relative to `docs/`."""
    return re.sub(r"\[([^\]]*)\]\(([^)]+)\)", _link, text)


def _link(found: re.Match[str]) -> str:
    words, target = found.groups()
    path, hash_, anchor = target.partition("#")
    if "://" in path or not path:
        return found[0]
    inside = AT_THE_TOP.get(path) or (path[5:] if path.startswith("docs/") else "")
    if path.rstrip("/") == "examples":
        inside = "how-to/examples.md"
    return f"[{words}]({inside}{hash_}{anchor})" if inside else words


# --- examples


def examples() -> str:
    """Every example, with its first sentence and its source."""
    folder = ROOT / "examples"
    return "\n".join(
        map(_example, [*sorted(folder.glob("*.py")), *sorted(folder.glob("*/**/*.py"))])
    )


def _example(path: Path) -> str:
    source = path.read_text("utf-8")
    docstring = ast.get_docstring(ast.parse(source)) or path.stem
    heading = docstring.splitlines()[0].rstrip(".")
    name = path.relative_to(ROOT / "examples")
    return f'## {name}\n\n{heading}.\n\n```python title="{name}"\n{source}```\n'


# --- kinds


def kinds() -> str:
    """Every built-in kind, by the module that has its class."""
    modules: dict[str, list[ResourceInfo]] = {}
    for info in resources():
        modules.setdefault(_module(info), []).append(info)
    return "\n".join(map(_table, modules, modules.values()))


def _module(info: ResourceInfo) -> str:
    cls = class_for(info.group, info.version, info.kind)
    name = cls.__module__.rpartition(".")[2] if cls is not None else f"{info.group}_{info.version}"
    return f"kubeloop.wire.{name.replace('_', '.')}"


def _table(module: str, infos: Iterable[ResourceInfo]) -> str:
    head = f"\n## {module}\n\n| kind | resource | short | namespaced |\n|---|---|---|---|\n"
    return head + "\n".join(_row(info) for info in sorted(infos, key=lambda each: each.kind))


def _row(info: ResourceInfo) -> str:
    inside = "yes" if info.namespaced else "no"
    return f"| `{info.kind}` | `{info.plural}` | {', '.join(info.short_names)} | {inside} |"


# --- errors


def errors() -> str:
    """Every public error, as a tree with the first line of its docstring."""
    packages = {error: package for package in _packages() for error in _errors_of(package)}
    return "".join(_branch(KubeError, packages, depth=0))


def _packages() -> list[str]:
    names = [module.name for module in pkgutil.iter_modules(kubeloop.__path__) if module.ispkg]
    return [*(f"kubeloop.{name}" for name in sorted(names)), "kubeloop_testing"]


def _errors_of(package: str) -> Iterator[type[KubeError]]:
    module = importlib.import_module(package)
    for name in module.__all__:
        found = getattr(module, name)
        if isinstance(found, type) and issubclass(found, KubeError):
            yield found


def _branch(
    error: type[KubeError], packages: dict[type[KubeError], str], *, depth: int
) -> list[str]:
    below = sorted(error.__subclasses__(), key=lambda each: each.__name__)
    lines = [line for each in below for line in _branch(each, packages, depth=depth + 1)]
    if error not in packages:
        return lines
    summary = (error.__doc__ or "").partition("\n")[0]
    name = f"[`{error.__name__}`][{packages[error]}.{error.__name__}]"
    return [f"{'    ' * depth}- {name} – {summary}\n", *lines]


# --- metrics


def metrics() -> str:
    """Every metric that a manager serves: name, type, meaning."""
    from prometheus_client import CollectorRegistry

    from kubeloop.runtime.metrics import AllMetrics

    registry = CollectorRegistry()
    AllMetrics(registry)
    ours = [
        each for each in registry.collect() if not each.name.startswith(("python_", "process_"))
    ]
    rows = [
        f"| `{each.name}{'_total' if each.type == 'counter' else ''}` | {each.type} |"
        f" {each.documentation} |"
        for each in ours
    ]
    return "\n".join(["| name | type | meaning |", "|---|---|---|", *rows])


MAKERS: Mapping[str, Callable[[], str]] = {
    "errors": errors,
    "examples": examples,
    "kinds": kinds,
    "metrics": metrics,
}
