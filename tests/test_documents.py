"""What the documents say about the package is true of it; their code runs in `test_pages`."""

from __future__ import annotations

import pkgutil
import re
import tomllib
from pathlib import Path

import kubeloop

ROOT = Path(__file__).parent.parent
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
STATES = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", ARCHITECTURE, re.MULTILINE))


def test_the_architecture_page_marks_the_rooms_that_exist() -> None:
    rooms = {found.name for found in pkgutil.iter_modules(kubeloop.__path__) if found.ispkg}

    assert {room for room, state in STATES.items() if state == "today"} == rooms


def test_the_architecture_page_names_the_rooms_of_the_import_contract() -> None:
    (contract,) = PROJECT["tool"]["importlinter"]["contracts"]
    layers = [re.findall(r"\w+", layer) for layer in contract["layers"]]

    assert {room for layer in layers for room in layer} == set(STATES)
    assert "\n".join(" | ".join(layer) for layer in layers) in ARCHITECTURE
