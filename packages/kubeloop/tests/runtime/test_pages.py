"""The map from client-go names what there is."""

from __future__ import annotations

from pathlib import Path

import pytest

import kubeloop
from kubeloop import runtime

DOCS = Path(__file__).parents[4] / "docs"
MAP = (DOCS / "how-to" / "from-client-go.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name",
    [
        "Client", "ClusterConfig", "Manager", "NotFound", "Result", "TerminalError", "WatchSource", "ALL_NAMESPACES",
        "NotCached", "WebhookServer", "any_of", "all_of", "none_of", "generation_changed",
    ],
)  # fmt: skip
def test_the_map_lists_names_that_exist(name: str) -> None:
    assert f"`{name}" in MAP or f"{name}(" in MAP or f"[{name}" in MAP
    assert hasattr(kubeloop, name) or hasattr(runtime, name)
