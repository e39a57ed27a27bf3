"""The programs of the pages about controllers run."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest

import kubeloop
from kubeloop import clients, runtime
from tests.following import blocks_of

DOCS = Path(__file__).parents[2] / "docs"
BLOCKS = [block.text for block in blocks_of("docs/controllers.md", "python")]
MAP = (DOCS / "from-client-go.md").read_text(encoding="utf-8")


async def test_the_controller_of_the_page_works_as_its_own_test_says(
    kube_client: clients.Client, kubeconfig_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig_file))
    page: Any = types.ModuleType("page_about_controllers")
    monkeypatch.setitem(sys.modules, page.__name__, page)

    exec(compile("\n".join(BLOCKS), "controllers.md", "exec"), vars(page))

    await page.test_a_site_gets_a_deployment(kube_client)
    assert page.manager.stats().controllers[0].failed == 0


@pytest.mark.parametrize(
    "name",
    [
        "Client", "ClusterConfig", "Manager", "NotFound", "Result", "TerminalError", "Watch", "ALL",
        "NotCached", "WebhookServer", "any_of", "all_of", "none_of", "generation_changed",
    ],
)  # fmt: skip
def test_the_map_names_what_there_is(name: str) -> None:
    assert f"`{name}" in MAP or f"{name}(" in MAP or f"[{name}" in MAP
    assert hasattr(kubeloop, name) or hasattr(runtime, name)
