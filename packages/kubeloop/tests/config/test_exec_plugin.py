"""Input and output of exec plugins, without running one."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.config import (
    ClusterConfig,
    ConfigError,
    CredentialError,
    ExecConfig,
    ExecEnv,
    ExecPolicy,
    PluginError,
    PluginNotFound,
)
from kubeloop.config.exec_plugin import (
    ExecCluster,
    check_exec_config,
    exec_info,
    find_program,
    install_advice,
    is_interactive,
    parse_output,
    plugin_environment,
)
from kubeloop.config.kubeconfig import allows, policy_problems
from kubeloop.config.open_credentials import exec_cluster

from .conftest import Issued

V1 = "client.authentication.k8s.io/v1"
V1BETA1 = "client.authentication.k8s.io/v1beta1"
PLUGIN = ExecConfig(command="plugin", api_version=V1, interactive_mode="Never")


@pytest.mark.parametrize(
    "version", ["client.authentication.k8s.io/v1alpha1", "v1", "client.authentication.k8s.io/v2"]
)
def test_other_versions_are_an_error_at_construction(version: str) -> None:
    """EXE-1: supported apiVersions: `client.authentication.k8s.io/v1` and `/v1beta1`."""
    check_exec_config(PLUGIN)
    check_exec_config(msgspec.structs.replace(PLUGIN, api_version=V1BETA1))
    with pytest.raises(ConfigError, match="is not supported"):
        check_exec_config(msgspec.structs.replace(PLUGIN, api_version=version))


def test_the_environment_is_ours_and_the_kubeconfigs_and_the_exec_info() -> None:
    """EXE-4: Process: command path is cleaned; args as given."""
    plugin = msgspec.structs.replace(
        PLUGIN, env=(ExecEnv(name="A", value="new"), ExecEnv(name="B", value="b"))
    )

    environ = plugin_environment(plugin, "{}", {"A": "old", "C": "c"})

    assert environ == {"A": "new", "B": "b", "C": "c", "KUBERNETES_EXEC_INFO": "{}"}


@pytest.mark.parametrize("version", [V1, V1BETA1])
def test_the_plugin_gets_cluster_information_only_on_request(version: str, tmp_path: Path) -> None:
    """EXE-5, CFG-29: the JSON sent."""
    ca = tmp_path / "ca.crt"
    ca.write_bytes(b"ca")
    plugin = msgspec.structs.replace(
        PLUGIN, api_version=version, provide_cluster_info=True, cluster_config={"aud": "x"}
    )
    config = ClusterConfig(
        server="https://h",
        token="t",
        tls_server_name="api",
        ca_file=str(ca),
        proxy_url="http://p",
        disable_compression=True,
        exec=plugin,
    )

    info = json.loads(exec_info(plugin, exec_cluster(config, plugin), interactive=True))

    assert info == {
        "apiVersion": version,
        "kind": "ExecCredential",
        "spec": {
            "interactive": True,
            "cluster": {
                "server": "https://h",
                "tls-server-name": "api",
                "certificate-authority-data": "Y2E=",
                "proxy-url": "http://p",
                "disable-compression": True,
                "config": {"aud": "x"},
            },
        },
    }
    assert exec_cluster(config, PLUGIN) is None
    untold = json.loads(exec_info(PLUGIN, ExecCluster(server="x"), interactive=False))
    assert untold["spec"] == {"interactive": False}


@pytest.mark.parametrize(
    ("mode", "terminal", "unavailable", "interactive"),
    [
        ("Never", True, False, False),
        ("IfAvailable", True, False, True),
        ("IfAvailable", False, False, False),
        ("IfAvailable", True, True, False),
        ("Always", True, False, True),
    ],
)
def test_when_a_plugin_may_talk_to_the_user(
    mode: str, terminal: bool, unavailable: bool, interactive: bool
) -> None:
    """EXE-6: interactive decision: `Never` -> false; `IfAvailable`."""
    plugin = msgspec.structs.replace(PLUGIN, interactive_mode=mode, stdin_unavailable=unavailable)

    assert is_interactive(plugin, terminal=terminal) is interactive


def test_a_plugin_that_must_talk_and_cannot_is_an_error() -> None:
    """EXE-6: interactive decision: `Never` -> false; `IfAvailable`."""
    always = msgspec.structs.replace(PLUGIN, interactive_mode="Always")
    taken = msgspec.structs.replace(
        always, stdin_unavailable=True, stdin_unavailable_message="used for manifests"
    )

    with pytest.raises(PluginError, match="run it in a terminal"):
        is_interactive(always, terminal=False)
    with pytest.raises(PluginError, match="used for manifests"):
        is_interactive(taken, terminal=True)
    for mode in ("", "Maybe"):
        with pytest.raises(PluginError, match="unknown interactiveMode"):
            is_interactive(msgspec.structs.replace(PLUGIN, interactive_mode=mode), terminal=True)


def output(status: object, *, version: str = V1, kind: str = "ExecCredential") -> bytes:
    return json.dumps({"apiVersion": version, "kind": kind, "status": status}).encode()


def test_a_token_with_its_end_is_read() -> None:
    """EXE-7, EXE-8: output must be an ExecCredential of exactly the configured group/version."""
    found = parse_output(
        output({"token": "t", "expirationTimestamp": "2030-01-01T02:00:00+01:00", "new": 1}), PLUGIN
    )

    assert found.token == "t"
    assert found.expires == datetime(2030, 1, 1, 1, tzinfo=UTC)


def test_a_certificate_is_read_and_must_fit_its_key(issued: Issued, reissued: Issued) -> None:
    """EXE-7: output must be an ExecCredential of exactly the configured group/version."""
    pair = {
        "clientCertificateData": issued.certificate.decode(),
        "clientKeyData": issued.key.decode(),
    }

    found = parse_output(output(pair), PLUGIN)

    assert found.certificate is not None
    assert found.certificate.certificate == issued.certificate
    with pytest.raises(CredentialError, match="not a usable pair"):
        parse_output(output({**pair, "clientKeyData": reissued.key.decode()}), PLUGIN)


@pytest.mark.parametrize(
    ("stdout", "message"),
    [
        (b"", "printed nothing"),
        (b"s3cret", "6 bytes that are not JSON"),
        (b"\xff", "not JSON"),
        (b'{"x":' + b"[" * 100_000, "not JSON"),
        (b'["s3cret"]', "invalid ExecCredential"),
        (output({"token": "s3cret"}, version=V1BETA1), f"{V1}.*{V1BETA1}"),
        (output({"token": "s3cret"}, kind="Pod"), "it printed another kind"),
        (output({"token": "s3cret"}, kind="s3cret"), "it printed another kind"),
        (output({"token": "s3cret"}, version="s3cret"), "another apiVersion"),
        (output({"token": "s3cret"}, kind=""), "it printed no kind"),
        (output(None), "no status"),
        (output({}), "neither a token nor a certificate"),
        (output({"token": ""}), "neither a token nor a certificate"),
        (output({"token": None}), "neither a token nor a certificate"),
        (output({"token": "s3cret", "clientCertificateData": "x"}), "only one of"),
        (output({"token": "s3cret", "clientKeyData": "s3cret"}), "only one of"),
        (output({"token": ["s3cret"]}), r"\$.status.token"),
        (output({"token": "s3cret", "expirationTimestamp": "soon"}), "expirationTimestamp"),
        (output({"token": "s3cret", "expirationTimestamp": "2030-01-01T00:00:00"}), "expiration"),
    ],
)
def test_anything_else_is_an_error_that_does_not_quote_it(stdout: bytes, message: str) -> None:
    """EXE-7, CFG-C19: output must be an ExecCredential of exactly the configured group/version."""
    with pytest.raises(PluginError, match=message) as caught:
        parse_output(stdout, PLUGIN)

    assert "s3cret" not in str(caught.value)
    assert "exec plugin plugin: " in str(caught.value)
    assert caught.value.__cause__ is None


@given(st.binary() | st.text().map(str.encode))
def test_no_output_makes_anything_but_credentials_or_our_error(stdout: bytes) -> None:
    with pytest.raises(PluginError):
        parse_output(stdout, PLUGIN)


def program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_a_bare_command_is_looked_up_in_path(tmp_path: Path) -> None:
    """EXE-4: how the command of a plugin is found."""
    there = program(tmp_path / "bin/plugin")
    environ = {"PATH": os.pathsep.join(["/nowhere", str(tmp_path / "bin")])}

    assert find_program(PLUGIN, environ) == there


def test_a_command_with_a_path_is_cleaned_and_not_looked_up(tmp_path: Path) -> None:
    """EXE-4: Process: command path is cleaned; args as given."""
    there = program(tmp_path / "bin/plugin")
    plugin = msgspec.structs.replace(PLUGIN, command=f"{tmp_path}/other/../bin/./plugin")

    assert find_program(plugin, {"PATH": ""}) == there


def test_a_program_in_the_working_directory_is_not_run_by_accident(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "plugin")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(PluginNotFound, match="only in the working directory"):
        find_program(PLUGIN, {"PATH": "."})


def test_a_file_that_is_no_program_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "plugin").write_text("")

    with pytest.raises(PluginNotFound, match="exec plugin plugin: no such program in PATH"):
        find_program(PLUGIN, {"PATH": str(tmp_path)})


def test_an_install_hint_of_several_lines_becomes_one() -> None:
    hint = "To install it:\n\n  brew install it\n"

    advice = install_advice(msgspec.structs.replace(PLUGIN, install_hint=hint))

    assert advice.endswith("client-go-credential-plugins: To install it: brew install it")


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        (ExecPolicy(), ""),
        (ExecPolicy(mode="AllowAll"), ""),
        (ExecPolicy(mode="DenyAll"), ""),
        (ExecPolicy(mode="Allowlist", allowlist=("a", "/b/c")), ""),
        (ExecPolicy(allowlist=("a",)), "takes no allowlist"),
        (ExecPolicy(mode="DenyAll", allowlist=()), "takes no allowlist"),
        (ExecPolicy(mode="Allowlist"), "needs a list"),
        (ExecPolicy(mode="Allowlist", allowlist=()), "needs a list"),
        (ExecPolicy(mode="Allowlist", allowlist=("",)), "is empty"),
        (ExecPolicy(mode="Allowlist", allowlist=("/a/../b",)), "not in normal form"),
        (ExecPolicy(mode="denyall"), "unknown plugin policy"),
    ],
)
def test_a_policy_that_contradicts_itself_is_a_fault(policy: ExecPolicy, problem: str) -> None:
    """EXE-12: plugin policy: `AllowAll` (or empty) / `DenyAll` / `Allowlist`."""
    assert problem in "".join(policy_problems(policy))
    assert bool(policy_problems(policy)) is bool(problem)


@pytest.mark.parametrize(
    ("policy", "allowed"),
    [
        (ExecPolicy(), True),
        (ExecPolicy(mode="AllowAll"), True),
        (ExecPolicy(mode="DenyAll"), False),
        (ExecPolicy(mode="denyall"), False),
        (ExecPolicy(mode="Allowlist"), False),
        (ExecPolicy(mode="Allowlist", allowlist=("plugin",)), True),
        (ExecPolicy(mode="Allowlist", allowlist=("/bin/plugin",)), True),
        (ExecPolicy(mode="Allowlist", allowlist=("/evil/plugin",)), False),
        (ExecPolicy(mode="Allowlist", allowlist=("other",)), False),
    ],
)
def test_a_policy_lets_a_program_in_by_its_path(policy: ExecPolicy, allowed: bool) -> None:
    """EXE-12: plugin policy: `AllowAll` (or empty) / `DenyAll` / `Allowlist`."""
    found = {"plugin": "/bin/plugin", "/evil/plugin": "/evil/plugin"}

    assert allows(policy, "plugin", "/bin/plugin", find=found.get) is allowed
    by_name = ExecPolicy(mode="Allowlist", allowlist=("plugin",))
    assert allows(by_name, "/bin/plugin", "/bin/plugin", find=found.get)
    assert not allows(by_name, "/evil/plugin", "/evil/plugin", find=found.get)
