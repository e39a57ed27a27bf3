"""The default configuration: kubeconfig, then in-cluster."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from kubeloop.config import (
    Cluster,
    ClusterConfig,
    CredentialError,
    EmptyConfig,
    InvalidConfig,
    KubeconfigFiles,
    NotInCluster,
    Overrides,
    TerminalPrompt,
    User,
    default_server,
    in_cluster_possible,
)

from .conftest import Authority

KUBECONFIG = """
current-context: a
clusters: [{name: c, cluster: {server: 'https://file'}}]
users: [{name: u, user: {token: from-file}}]
contexts:
- {name: a, context: {cluster: c, user: u}}
- {name: b, context: {cluster: c, user: u, namespace: shop}}
- {name: d, context: {cluster: c, user: u, namespace: default}}
"""

POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def account(tmp_path: Path, authority: Authority) -> str:
    directory = tmp_path / "serviceaccount"
    directory.mkdir()
    (directory / "token").write_text("pod-token\n")
    (directory / "ca.crt").write_bytes(authority.pem)
    (directory / "namespace").write_text("kube-system\n")
    return str(directory)


@pytest.fixture
def kubeconfig(tmp_path: Path) -> str:
    path = tmp_path / "config"
    path.write_text(KUBECONFIG)
    return str(path)


def test_in_a_pod_the_account_is_read(account: str) -> None:
    """REST-77, REST-78: in-cluster needs the service address and the token file."""
    config = ClusterConfig.in_cluster(environ=POD, directory=account)

    assert config == ClusterConfig(
        server="https://10.0.0.1:443",
        namespace="kube-system",
        ca_file=f"{account}/ca.crt",
        token="pod-token\n",
        token_file=f"{account}/token",
    )


def test_an_ipv6_host_is_bracketed(account: str) -> None:
    """REST-77: needs `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT` non-empty."""
    environ = {**POD, "KUBERNETES_SERVICE_HOST": "fd00::1"}

    assert ClusterConfig.in_cluster(environ=environ, directory=account).server == (
        "https://[fd00::1]:443"
    )


@pytest.mark.parametrize("missing", list(POD))
def test_outside_a_pod_there_is_no_account(account: str, missing: str) -> None:
    """REST-77: needs `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT` non-empty."""
    environ = {**POD, missing: ""}

    with pytest.raises(NotInCluster, match="run inside a pod, or use a kubeconfig"):
        ClusterConfig.in_cluster(environ=environ, directory=account)
    assert not in_cluster_possible(environ, directory=account)


def test_a_pod_without_a_token_is_an_error(account: str) -> None:
    """REST-78: the token file must be readable, an unusable CA is only logged."""
    Path(account, "token").unlink()

    with pytest.raises(NotInCluster, match=r"No such file.*mount the service account token"):
        ClusterConfig.in_cluster(environ=POD, directory=account)
    assert not in_cluster_possible(POD, directory=account)


@pytest.mark.parametrize("content", [None, b"", b"rubbish"])
def test_a_pod_without_a_usable_ca_trusts_the_system(
    account: str, content: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    """REST-78: the token file must be readable, an unusable CA is only logged."""
    file = Path(account, "ca.crt")
    file.unlink()
    if content is not None:
        file.write_bytes(content)

    config = ClusterConfig.in_cluster(environ=POD, directory=account)

    assert config.ca_file == ""
    assert "ca.crt: cannot use the CA" in caplog.text


def test_in_a_pod_three_overrides_count(account: str) -> None:
    """CFG-38: In-cluster with overrides: server override replaces host."""
    over = Overrides(
        cluster_info=Cluster(
            server="https://other", certificate_authority="/other.crt", tls_server_name="ignored"
        ),
        user_info=User(token="mine", username="ignored"),
    )

    config = ClusterConfig.in_cluster(overrides=over, environ=POD, directory=account)

    assert (config.server, config.ca_file) == ("https://other", "/other.crt")
    assert (config.token, config.token_file) == ("mine", "")
    assert (config.tls_server_name, config.username) == ("", "")


def test_in_a_pod_a_token_file_override_empties_the_token(account: str) -> None:
    """CFG-38, CFG-C22: In-cluster with overrides: server override replaces host."""
    over = Overrides(user_info=User(token_file="/mine"))

    config = ClusterConfig.in_cluster(overrides=over, environ=POD, directory=account)

    assert (config.token, config.token_file) == ("", "/mine")


def test_a_kubeconfig_wins_over_the_pod(account: str, kubeconfig: str) -> None:
    """CFG-37: deferred config: loads once; if the result is an empty-config error."""
    environ = {**POD, "KUBECONFIG": kubeconfig}

    assert ClusterConfig.load(environ=environ, service_account=account).server == "https://file"


def test_without_any_kubeconfig_the_pod_is_used(account: str, tmp_path: Path) -> None:
    """CFG-37: deferred config: loads once; if the result is an empty-config error."""
    environ = {**POD, "HOME": str(tmp_path / "empty")}

    config = ClusterConfig.load(environ=environ, service_account=account)

    assert config.server == "https://10.0.0.1:443"


def test_a_result_equal_to_the_default_counts_as_none(account: str) -> None:
    """CFG-37: deferred config: loads once; if the result is an empty-config error."""
    over = Overrides(cluster_defaults=default_server({}))
    default = ClusterConfig(server="http://localhost:8080")

    inside = ClusterConfig.load(
        overrides=over, default=default, environ=POD, service_account=account
    )
    outside = ClusterConfig.load(
        overrides=over, default=default, environ={}, service_account=account
    )

    assert inside.server == "https://10.0.0.1:443"
    assert outside.server == default.server


def test_without_kubeconfig_and_pod_the_config_is_empty(tmp_path: Path) -> None:
    """CFG-37, CFG-C15: and the error has what was tried."""
    with pytest.raises(EmptyConfig, match="gone has no configuration, and this is not a pod"):
        ClusterConfig.load(
            environ={"KUBECONFIG": str(tmp_path / "gone")}, service_account=str(tmp_path)
        )


def test_contexts_of_which_none_is_current_are_named(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("contexts: [{name: prod, context: {}}, {name: dev, context: {}}]")

    with pytest.raises(EmptyConfig, match=r"has no current-context \(choose one of dev, prod\)"):
        ClusterConfig.load(environ={"KUBECONFIG": str(file)}, service_account=str(tmp_path))


def test_other_errors_are_not_hidden_by_the_pod(account: str, tmp_path: Path) -> None:
    """CFG-37: deferred config: loads once; if the result is an empty-config error."""
    broken = tmp_path / "broken"
    broken.write_text("clusters: [")

    with pytest.raises(InvalidConfig, match="broken"):
        ClusterConfig.load(environ={**POD, "KUBECONFIG": str(broken)}, service_account=account)
    with pytest.raises(InvalidConfig, match="no such file"):
        ClusterConfig.load(tmp_path / "gone", environ=POD, service_account=account)


@pytest.mark.parametrize(
    ("over", "environ", "namespace"),
    [
        (Overrides(context="b"), {"POD_NAMESPACE": "pod"}, "shop"),
        (Overrides(context="d"), {"POD_NAMESPACE": "pod"}, "default"),
        (Overrides(namespace="mine"), {"POD_NAMESPACE": "pod"}, "mine"),
        (Overrides(), {"POD_NAMESPACE": "pod"}, "pod"),
        (Overrides(), {}, "kube-system"),
    ],
)
def test_the_namespace_is_configured_or_that_of_the_pod(
    account: str, kubeconfig: str, over: Overrides, environ: dict[str, str], namespace: str
) -> None:
    """CFG-39, CFG-C16: deferred namespace."""
    config = ClusterConfig.load(
        kubeconfig,
        overrides=over,
        environ={**POD, **environ},
        service_account=account,
    )

    assert config.namespace == namespace


def test_outside_a_pod_the_namespace_is_default(kubeconfig: str, tmp_path: Path) -> None:
    """CFG-39: an empty namespace file is ignored."""
    (tmp_path / "namespace").write_text("\n")

    config = ClusterConfig.load(kubeconfig, environ={}, service_account=str(tmp_path))

    assert config.namespace == "default"


def test_without_flags_only_the_pod_is_tried(account: str, tmp_path: Path) -> None:
    """CFG-36, V-16: a kubeconfig in the home directory is not read."""
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube/config").write_text(KUBECONFIG)
    home = {"HOME": str(tmp_path), "KUBECONFIG": str(tmp_path / ".kube/config")}

    inside = ClusterConfig.from_flags(environ={**POD, **home}, service_account=account)
    assert inside.server == "https://10.0.0.1:443"
    with pytest.raises(EmptyConfig):
        ClusterConfig.from_flags(environ=home, service_account=account)


def test_flags_name_a_file_and_a_server(kubeconfig: str) -> None:
    """CFG-36: BuildConfigFromFlags: both arguments empty -> try in-cluster."""
    config = ClusterConfig.from_flags("https://flag", kubeconfig, environ={})
    alone = ClusterConfig.from_flags("http://flag", environ={})

    assert (config.server, config.token) == ("https://flag", "from-file")
    assert alone.server == "http://flag"


def test_a_kubeconfig_in_memory_needs_no_file() -> None:
    assert ClusterConfig.from_kubeconfig(KUBECONFIG, context="b").namespace == "shop"
    assert KubeconfigFiles.from_environ({}).names == ()


class Terminal(io.StringIO):
    """Standard input of a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_prompt_asks_once_and_remembers(monkeypatch: pytest.MonkeyPatch) -> None:
    """CFG-35: interactive variant: if no user identification was found and a reader was given."""
    asked: list[str] = []

    def answer(text: str) -> str:
        asked.append(text)
        return "pa55"

    monkeypatch.setattr("getpass.getpass", answer)
    screen = io.StringIO()
    prompt = TerminalPrompt(Terminal("ada\nnobody\n"), screen)

    answers = [(prompt.username(), prompt.password()) for _ in range(2)]

    assert answers == [("ada", "pa55"), ("ada", "pa55")]
    assert screen.getvalue() == "Please enter Username: "
    assert len(asked) == 1


def test_a_password_is_read_from_a_terminal_only() -> None:
    """CFG-35: interactive variant: if no user identification was found and a reader was given."""
    prompt = TerminalPrompt(io.StringIO("ada\npa55\n"), io.StringIO())

    with pytest.raises(CredentialError, match="not a terminal"):
        prompt.password()


def test_a_context_whose_cluster_is_not_there_is_named(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(
        "current-context: dev\ncontexts: [{name: dev, context: {cluster: far, user: me}}]\n"
    )

    with pytest.raises(EmptyConfig, match='context "dev" with cluster "far", but no'):
        ClusterConfig.load(file, environ={})
