"""Parsing of kubeconfigs."""

from __future__ import annotations

import base64
import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.config import (
    AuthProvider,
    Cluster,
    Context,
    ExecConfig,
    ExecEnv,
    InvalidConfig,
    Kubeconfig,
    User,
    parse_kubeconfig,
)
from kubeloop.config.parsing import to_wire

WHOLE = """
apiVersion: v1
kind: Config
preferences: {colors: true}
current-context: shop
clusters:
- name: big
  cluster:
    server: https://h:6443
    tls-server-name: api
    insecure-skip-tls-verify: false
    certificate-authority: ca.crt
    certificate-authority-data: Y2E=
    proxy-url: http://proxy
    disable-compression: true
    extensions:
    - name: client.authentication.k8s.io/exec
      extension: {audience: shop}
users:
- name: ada
  user:
    client-certificate: c.crt
    client-certificate-data: Y2VydA==
    client-key: c.key
    client-key-data: a2V5
    token: t0ken
    tokenFile: token
    as: root
    as-uid: "7"
    as-groups: [a, b]
    as-user-extra: {scope: [x, z]}
    username: ada
    password: pa55
    auth-provider: {name: oidc, config: {client-id: me}}
    exec:
      command: plugin
      args: [get]
      env: [{name: A, value: "1"}]
      apiVersion: client.authentication.k8s.io/v1
      installHint: install it
      provideClusterInfo: true
      interactiveMode: Never
contexts:
- name: shop
  context: {cluster: big, user: ada, namespace: shop}
extensions:
- {name: mine, extension: {x: 1}}
"""


def test_every_field_of_the_format_is_read() -> None:
    """CFG-1, CFG-3, CFG-4, CFG-5, CFG-6, CFG-8: YAML or JSON, `kind: Config`, `apiVersion: v1`."""
    config = parse_kubeconfig(WHOLE, origin="/x/config")

    assert config == Kubeconfig(
        current_context="shop",
        preferences={"colors": True},
        extensions={"mine": {"x": 1}},
        clusters={
            "big": Cluster(
                server="https://h:6443",
                tls_server_name="api",
                certificate_authority="ca.crt",
                certificate_authority_data=b"ca",
                proxy_url="http://proxy",
                disable_compression=True,
                extensions={"client.authentication.k8s.io/exec": {"audience": "shop"}},
                origin="/x/config",
            )
        },
        users={
            "ada": User(
                client_certificate="c.crt",
                client_certificate_data=b"cert",
                client_key="c.key",
                client_key_data=b"key",
                token="t0ken",
                token_file="token",
                impersonate="root",
                impersonate_uid="7",
                impersonate_groups=("a", "b"),
                impersonate_extra={"scope": ("x", "z")},
                username="ada",
                password="pa55",
                auth_provider=AuthProvider(name="oidc", config={"client-id": "me"}),
                exec=ExecConfig(
                    command="plugin",
                    args=("get",),
                    env=(ExecEnv(name="A", value="1"),),
                    api_version="client.authentication.k8s.io/v1",
                    install_hint="install it",
                    provide_cluster_info=True,
                    interactive_mode="Never",
                ),
                origin="/x/config",
            )
        },
        contexts={"shop": Context(cluster="big", user="ada", namespace="shop", origin="/x/config")},
    )


def test_json_is_read_as_well() -> None:
    """CFG-1: with tabs, which are not valid in YAML."""
    text = json.dumps({"current-context": "a"}, indent="\t")

    assert parse_kubeconfig(text).current_context == "a"


@pytest.mark.parametrize("text", ["", "---\n", "# only a comment", b""])
def test_an_empty_file_is_an_empty_config(text: str | bytes) -> None:
    """CFG-7: an empty file is an empty config. Unknown fields are ignored."""
    assert parse_kubeconfig(text).is_empty


def test_nulls_and_unknown_keys_are_as_good_as_absent() -> None:
    """CFG-7: an empty file is an empty config. Unknown fields are ignored."""
    text = """
    clusters: null
    future: {a: 1}
    users: [{name: ada, user: {token: null, newer: 5, exec: null}}]
    contexts: [{name: c, context: null}]
    """

    config = parse_kubeconfig(text)

    assert config.users == {"ada": User()}
    assert config.contexts == {"c": Context()}


@pytest.mark.parametrize("key", ["clusters", "users", "contexts", "extensions"])
def test_a_name_twice_in_one_list_is_an_error_that_says_it(key: str) -> None:
    """CFG-2, CFG-C21: in memory the lists are maps by name."""
    with pytest.raises(InvalidConfig, match=f'duplicate name "big" in list {key}'):
        parse_kubeconfig(f"{key}: [{{name: big}}, {{name: big}}]")


@pytest.mark.parametrize(
    ("version", "mode"),
    [("v1alpha1", "IfAvailable"), ("v1beta1", "IfAvailable"), ("v1", "")],
)
def test_only_the_older_plugins_have_a_default_mode(version: str, mode: str) -> None:
    """CFG-6, CFG-C11: exec fields: `command`, `args`, `env` [{name,value}], `apiVersion`."""
    text = f"""
    users:
    - name: ada
      user: {{exec: {{command: p, apiVersion: client.authentication.k8s.io/{version}}}}}
    """

    plugin = parse_kubeconfig(text).users["ada"].exec

    assert plugin is not None
    assert plugin.interactive_mode == mode


@pytest.mark.parametrize("message", ["1234", "0123", "true", "no", "1.5"])
def test_a_number_is_rejected_where_a_string_is_expected_unless_it_is_quoted(message: str) -> None:
    text = "users: [{{name: 7, user: {{username: ada, password: {}}}}}]"

    with pytest.raises(InvalidConfig, match=r"users\[7\]: .*password.*needs quotes"):
        parse_kubeconfig(text.format(message))

    assert parse_kubeconfig(text.format(f"'{message}'")).users["7"].password == message


def test_folded_base64_is_read() -> None:
    text = "clusters: [{name: a, cluster: {certificate-authority-data: 'Y2\n\n E='}}]"

    assert parse_kubeconfig(text).clusters["a"].certificate_authority_data == b"ca"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "expected a mapping, found a list"),
        ("clusters: {}", "expected a list at clusters"),
        ("clusters: [5]", "expected mappings in clusters"),
        ("users: [{name: a, user: [s3cret]}]", "users.a.: expected a mapping"),
        ("users: [{name: a, user: {token: [s3cret]}}]", "token"),
        ("users: [{name: a, user: {client-key-data: 's3cret!'}}]", "client-key-data"),
        ("kind: Pod", "expected kind Config of v1, found kind Pod"),
        ("a: 1\n---\nb: 2", "expected one document"),
        ("users: [s3cret", "line 2"),
        ("token: 's3cret", "/x/config"),
        ("current-context: [s3cret]", "expected a string at current-context"),
        ("preferences: [s3cret]", "expected a mapping at preferences"),
        (b"\xff\xfe\xff", "/x/config"),
    ],
)
def test_a_broken_file_is_an_error_with_its_place_and_no_secret(
    text: str | bytes, message: str
) -> None:
    with pytest.raises(InvalidConfig, match=message) as caught:
        parse_kubeconfig(text, origin="/x/config")

    assert "s3cret" not in str(caught.value)
    assert "/x/config" in str(caught.value)
    assert caught.value.__cause__ is None


@given(st.text() | st.binary())
def test_no_text_makes_anything_but_a_config_or_our_error(text: str | bytes) -> None:
    with contextlib.suppress(InvalidConfig):
        parse_kubeconfig(text)


def test_values_go_back_to_the_format_they_came_from() -> None:
    config = parse_kubeconfig(WHOLE, origin="/x/config")

    body = to_wire(config.users["ada"])

    assert body["client-key-data"] == base64.b64encode(b"key").decode()
    assert body["as-user-extra"] == {"scope": ["x", "z"]}
    assert "origin" not in body
    assert to_wire(config.clusters["big"])["extensions"] == [
        {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "shop"}}
    ]


def test_no_secret_is_in_a_repr() -> None:
    config = parse_kubeconfig(WHOLE)

    shown = repr(config)

    for secret in ("t0ken", "pa55", "a2V5", "b'key'", "'1'", "client-id", "get"):
        assert secret not in shown
    assert "password=<masked>" in shown
    assert "'ada'" in shown
