"""The distributions of this repository, as their `pyproject.toml` describes them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["EXTRAS", "PROJECTS", "ROOT"]

ROOT = Path(__file__).parents[2]

PROJECTS: Mapping[str, Mapping[str, Any]] = {
    path.parent.name: tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    for path in sorted(ROOT.glob("packages/*/pyproject.toml"))
}
"""The table `project` of each, by the name of the distribution."""

EXTRAS: Mapping[str, list[str]] = PROJECTS["kubeloop"]["optional-dependencies"]
"""The extras of the library, which alone has some."""
