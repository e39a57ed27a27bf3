"""Adds pages of top-level files, and the sources of the examples, to the documentation site.

mkdocs calls the functions named `on_…` (see `hooks` in `mkdocs.yml`).
Guarantees: a link that works in the repository works on the site, or is plain text there.
See also: `reference_pages` (writes the reference, which reads without the site).
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the tests of this module need no mkdocs
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

__all__ = ["examples", "on_files", "on_page_markdown", "page_of"]

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
    """Insert the examples at their mark; mkdocs calls it with the text of each page."""
    mark = "<!-- made: examples -->"
    return markdown.replace(mark, examples()) if mark in markdown else markdown


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
