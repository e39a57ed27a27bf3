"""The facts of the Go types belong to the version of Kubernetes that the tests run."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from kubeloop.testing.server.values.go_types import go_type_of, source_version
from kubeloop.wire import resources

ROOT = Path(__file__).parents[2]


def _kubernetes_version() -> str:
    """`v1.37.1` of tools/assets.py as a version of its Go modules: `v0.37.1`."""
    spec = importlib.util.spec_from_file_location("assets", ROOT / "tools" / "assets.py")
    assert spec is not None
    assert spec.loader is not None
    assets = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(assets)
    return str(assets.KUBERNETES).replace("v1.", "v0.", 1)


def test_the_program_is_pinned_to_the_version_of_kube_apiserver() -> None:
    text = (ROOT / "tools" / "go_types" / "go.mod").read_text(encoding="utf-8")
    direct = text.partition("require (")[2].partition(")")[0]
    pinned = dict(re.findall(r"^\s*(k8s\.io/\S+) (v\S+)$", direct, re.MULTILINE))

    assert len(pinned) == 4
    assert set(pinned.values()) == {_kubernetes_version()}


def test_the_table_was_written_with_that_version() -> None:
    assert source_version() == _kubernetes_version()


def test_every_built_in_kind_and_its_subresources_have_a_go_type() -> None:
    kinds = {(each.group, each.version, each.kind) for each in resources()}
    kinds |= {
        (part.group, part.version, part.kind) for each in resources() for part in each.subresources
    }

    for group, version, kind in kinds:
        api_version = f"{group}/{version}".removeprefix("/")
        assert go_type_of(api_version, kind), (api_version, kind)
