"""The code on the pages runs: a page's blocks in their order, on a server with a shop in it."""

from __future__ import annotations

import ast
import asyncio
import inspect
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from kubeloop.clients import Client
from kubeloop.testing import APIServer
from tests.examples.standins import controllers
from tests.following import ROOT, blocks_of
from tests.test_tutorial import PAGES as TUTORIAL

PAGES = (
    "README.md",
    "docs/blocking.md",
    "docs/cache.md",
    "docs/clients.md",
    "docs/credentials.md",
    "docs/index.md",
    "docs/large-clusters.md",
    "docs/leader-election.md",
    "docs/metrics.md",
    "docs/migrating.md",
    "docs/models.md",
    "docs/webhooks.md",
)
# Pages that are run in a way of their own, and the tests that do it.
ELSEWHERE = {
    **dict.fromkeys(TUTORIAL, "tests/test_tutorial.py"),
    "docs/cli.md": "tests/cli/test_cli_page.py",
    "docs/controllers.md": "tests/runtime/test_pages.py",
    "docs/inspector.md": "tests/inspector/test_documents.py",
    "docs/testing.md": "tests/testing/test_testing_page.py",
}
SHOP = Path(__file__).parent / "examples" / "shop.yaml"


def programs_of(page: str) -> list[CodeType]:
    """The Python blocks of a page, compiled so that a traceback names its lines."""
    return [_compiled(block.text, page, block.line) for block in blocks_of(page, "python")]


def _compiled(source: str, page: str, above: int) -> CodeType:
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    code: CodeType = compile("\n" * above + source, page, "exec", flags=flags, dont_inherit=True)
    return code


async def run_block(block: CodeType, names: dict[str, Any]) -> None:
    """Lines of an async function run here, whole programs where no loop runs; then their tests."""
    if block.co_flags & inspect.CO_COROUTINE:
        await eval(block, names)
    else:
        await asyncio.to_thread(exec, block, names)
    for name in [each for each in names if each.startswith("test_")]:
        await names.pop(name)()


async def open_shop(server: APIServer, client: Client) -> None:
    """What the pages find on the server."""
    await client.apply(SHOP)
    for name in ("web-1", "web-2"):
        status = {"phase": "Running", "podIP": "10.0.0.7", "conditions": [READY]}
        await client.core_v1.pods("shop").status.patch(name, {"status": status}, type="merge")
    server.set_log("shop", "web-2", "listening\n")


READY = {"type": "Ready", "status": "True"}


@pytest.mark.parametrize("page", PAGES)
async def test_the_code_of_a_page_runs(
    page: str,
    kube_server: APIServer,
    kube_client: Client,
    kubeconfig_file: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig_file))
    names: dict[str, Any] = {"__name__": page, "client": kube_client, "Client": Client}
    async with controllers(kube_server):
        await open_shop(kube_server, kube_client)

        for block in programs_of(page):
            await run_block(block, names)


def test_no_page_has_code_that_nobody_runs() -> None:
    pages = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))]

    run = {*PAGES, *ELSEWHERE}

    assert [page for page in pages if blocks_of(page, "python") and page not in run] == []


@pytest.mark.parametrize("page", ELSEWHERE)
def test_who_says_to_run_a_page_names_it(page: str) -> None:
    assert Path(page).name in (ROOT / ELSEWHERE[page]).read_text(encoding="utf-8")
