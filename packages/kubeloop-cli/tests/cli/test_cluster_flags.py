"""The flags that select a server, credentials and a user."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kubeloop_cli.flags import Flags
from kubeloop_testing import APIServer

from .conftest import Call


@pytest.fixture(scope="session")
def kube_options() -> Mapping[str, Any]:
    return {"tls": True, "rbac": True}


def test_a_server_needs_no_kubeconfig_but_trust_and_a_token(
    kubeloop: Call, kube_server: APIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    config = kube_server.config
    ca = tmp_path / "ca.crt"
    ca.write_bytes(config.ca or Path(config.ca_file).read_bytes())
    words = ("get", "ns", "shop", "-o", "name", "--token", config.token)

    before = kubeloop("--server", config.server, "--insecure-skip-tls-verify", *words)
    after = kubeloop(*words, "-s", config.server, "--certificate-authority", str(ca))
    untrusted = kubeloop(*words, "-s", config.server)
    wrong = kubeloop(*words, "--token=wrong", "-s", config.server, "--insecure-skip-tls-verify")

    assert before.stdout == after.stdout == "namespace/shop\n", after.stderr
    assert untrusted.exit_code == wrong.exit_code == 4
    assert config.token not in untrusted.stderr


def test_what_an_impersonated_user_may_not_do_is_refused(kubeloop: Call) -> None:
    words = ("delete", "pod", "web-1", "-n", "shop")

    asked = kubeloop("auth", "can-i", "delete", "pods", "-n", "shop", "--as=joe")
    tried = kubeloop(*words, "--as=joe")
    in_group = kubeloop(*words, "--as=joe", "--as-group=system:masters", "--wait=false")

    assert asked.exit_code == tried.exit_code == 1
    assert asked.stdout.startswith("no")
    assert "403 Forbidden" in tried.stderr
    assert in_group.exit_code == 0


def test_a_group_needs_a_user(kubeloop: Call) -> None:
    result = kubeloop("get", "pods", "--as-group=a")

    assert result.exit_code == 4
    assert "need a user to impersonate (add --as)" in result.stderr


def test_the_token_is_not_in_the_repr() -> None:
    assert "a-secret" not in repr(Flags(token="a-secret"))
