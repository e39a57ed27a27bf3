"""The selection from a config and its overrides, and the resulting ClusterConfig."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from kubeloop.config import (
    Cluster,
    ClusterConfig,
    ConfigError,
    Context,
    ContextNotFound,
    CredentialError,
    EmptyConfig,
    ExecConfig,
    ExecPolicy,
    Impersonation,
    InvalidConfig,
    Kubeconfig,
    NoCredentials,
    Overrides,
    User,
    default_server,
)
from kubeloop.config.overrides import parse_timeout, plain_namespace, select

V1 = "client.authentication.k8s.io/v1"

CONFIG = Kubeconfig(
    current_context="b",
    clusters={"ca": Cluster(server="https://a"), "cb": Cluster(server="https://b")},
    users={"ua": User(token="A"), "ub": User(token="B")},
    contexts={
        "a": Context(cluster="ca", user="ua", namespace="shop"),
        "b": Context(cluster="cb", user="ub"),
        "lost": Context(cluster="gone", user="gone"),
    },
)


def of(cluster: Cluster, user: User | None = None) -> Kubeconfig:
    return Kubeconfig(
        current_context="x",
        clusters={"c": cluster},
        users={"u": User(token="t") if user is None else user},
        contexts={"x": Context(cluster="c", user="u")},
    )


def built(cluster: Cluster, user: User | None = None, **over: object) -> ClusterConfig:
    overrides = Overrides(**over)  # type: ignore[arg-type]  # a test's options
    return ClusterConfig.from_kubeconfig(of(cluster, user), overrides=overrides)


def test_the_override_names_the_context_then_the_argument_then_the_file() -> None:
    """CFG-21: context name: override, else constructor argument, else `current-context`."""
    assert select(CONFIG).context_name == "b"
    assert select(CONFIG, context="a").context_name == "a"
    assert select(CONFIG, Overrides(context="b"), context="a").context_name == "b"


def test_user_and_cluster_are_overridden_one_by_one() -> None:
    """CFG-21: context name: override, else constructor argument, else `current-context`."""
    selection = select(CONFIG, Overrides(cluster="ca"))

    assert (selection.cluster.server, selection.user.token) == ("https://a", "B")
    assert select(CONFIG, Overrides(user="ua")).user.token == "A"


@pytest.mark.parametrize("over", [Overrides(cluster="nope"), Overrides(user="nope")])
def test_what_an_override_names_must_exist(over: Overrides) -> None:
    """CFG-22: a context, user or cluster named by an override must exist."""
    with pytest.raises(InvalidConfig, match='"nope" does not exist, available: '):
        select(CONFIG, over)


@pytest.mark.parametrize("over", [Overrides(context="nope"), None])
def test_a_context_that_is_missing_is_its_own_error_and_an_invalid_config(
    over: Overrides | None,
) -> None:
    """CFG-22, CFG-44, CFG-C14: a context, user or cluster named by an override must exist."""
    with pytest.raises(ContextNotFound, match="available: a, b, lost") as caught:
        ClusterConfig.from_kubeconfig(CONFIG, overrides=over, context="nope")

    assert isinstance(caught.value, InvalidConfig)
    assert caught.value.has(ContextNotFound)
    assert caught.value.name == "nope"


def test_what_only_the_file_names_may_be_absent_and_validation_decides() -> None:
    """CFG-22: a context, user or cluster named by an override must exist."""
    selection = select(CONFIG, context="lost")

    assert (selection.cluster, selection.user) == (Cluster(), User())
    with pytest.raises(EmptyConfig):
        ClusterConfig.from_kubeconfig(CONFIG, context="lost")


def test_defaults_lose_to_the_file_and_the_file_to_overrides() -> None:
    """CFG-23: cluster layering: ClusterDefaults, then file cluster, then ClusterInfo overrides."""
    over = Overrides(
        cluster_defaults=Cluster(server="http://default", proxy_url="http://p"),
        cluster_info=Cluster(disable_compression=True),
    )

    cluster = select(CONFIG, over).cluster

    assert cluster == Cluster(server="https://b", proxy_url="http://p", disable_compression=True)


TRUSTING = Cluster(
    server="https://h",
    tls_server_name="api",
    certificate_authority_data=b"ca",
)


def test_a_new_server_takes_the_old_name_away() -> None:
    """CFG-23, CFG-C5: cluster layering: ClusterDefaults, then file cluster."""
    over = Overrides(cluster_info=Cluster(server="https://other"))
    named = Overrides(cluster_info=Cluster(server="https://other", tls_server_name="new"))

    assert select(of(TRUSTING), over).cluster.tls_server_name == ""
    assert select(of(TRUSTING), named).cluster.tls_server_name == "new"
    assert select(of(TRUSTING)).cluster.tls_server_name == "api"


def test_trust_is_overridden_as_a_whole() -> None:
    """CFG-23, CFG-C6: cluster layering: ClusterDefaults, then file cluster."""
    config = built(TRUSTING, cluster_info=Cluster(insecure_skip_tls_verify=True))

    assert (config.ca, config.ca_file, config.insecure_skip_tls_verify) == (b"", "", True)


def test_a_certificate_and_its_data_are_overridden_together() -> None:
    """CFG-24, CFG-C7: user layering: file user, then overrides."""
    user = User(client_certificate_data=b"c", client_key_data=b"k", client_key="", token="kept")
    over = Overrides(user_info=User(client_certificate="/new.crt", client_key="/new.key"))

    merged = select(of(TRUSTING, user), over).user

    assert merged == User(client_certificate="/new.crt", client_key="/new.key", token="kept")


@pytest.mark.parametrize("server", ["http://h", "h:8080"])
def test_nothing_secret_goes_to_a_server_without_tls(
    server: str, caplog: pytest.LogCaptureFixture
) -> None:
    """CFG-25, CFG-C9, V-15: server `http://h` with a token."""
    user = User(
        token="s3cret",
        impersonate="ada",
        client_certificate_data=b"c",
        client_key_data=b"k",
        exec=ExecConfig(command="p", api_version=V1, interactive_mode="Never"),
    )
    cluster = Cluster(server=server, certificate_authority_data=b"x", proxy_url="http://proxy")

    config = built(cluster, user, timeout="5")

    assert not config.has_credentials
    assert config.ca == b""
    assert config.impersonate == Impersonation(user="ada")
    assert (config.proxy_url, config.timeout) == ("http://proxy", 5)
    assert "not using the credentials" in caplog.text
    assert "s3cret" not in caplog.text


def test_a_token_wins_for_now_and_its_file_is_kept(tmp_path: Path) -> None:
    """CFG-26: Token: `token` wins for the initial value and `tokenFile` is still recorded."""
    both = built(TRUSTING, User(token="t", token_file="/nowhere"))
    assert (both.token, both.token_file) == ("t", "/nowhere")

    file = tmp_path / "token"
    file.write_text(" raw\n")
    alone = built(TRUSTING, User(token_file=str(file)))
    assert (alone.token, alone.token_file) == (" raw\n", str(file))


@pytest.mark.parametrize("content", [None, "", "\n"])
def test_a_token_file_alone_must_be_there_and_hold_a_token(
    tmp_path: Path, content: str | None
) -> None:
    """CFG-26: never an anonymous request by accident."""
    file = tmp_path / "token"
    if content is not None:
        file.write_text(content)

    with pytest.raises(CredentialError, match="reading tokenFile"):
        built(TRUSTING, User(token_file=str(file)))


def test_impersonation_needs_a_user() -> None:
    """CFG-27: impersonation is set only when `as` is non-empty."""
    user = User(
        token="t",
        impersonate="ada",
        impersonate_uid="7",
        impersonate_groups=("g",),
        impersonate_extra={"k": ("v",)},
    )

    assert built(TRUSTING, User(token="t")).impersonate is None
    assert built(TRUSTING, user).impersonate == Impersonation(
        user="ada", uid="7", groups=("g",), extra={"k": ("v",)}
    )


def test_a_key_without_a_certificate_is_left_out(tmp_path: Path) -> None:
    """CFG-28: client cert/key fields are copied only if a certificate."""
    config = built(TRUSTING, User(token="t", client_key="/nowhere.key"))

    assert (config.client_key, config.client_key_file) == (b"", "")


@pytest.mark.parametrize("user", [User(username="ada"), User(password="p")])
def test_a_name_or_a_password_is_basic_authentication(user: User) -> None:
    """CFG-28: client cert/key fields are copied only if a certificate."""
    config = built(TRUSTING, user)

    assert (config.username, config.password) == (user.username, user.password)
    assert config.has_credentials


def test_a_plugin_gets_the_extension_of_the_cluster() -> None:
    """CFG-29: exec."""
    cluster = Cluster(
        server="https://h", extensions={"client.authentication.k8s.io/exec": {"audience": "x"}}
    )
    plugin = ExecConfig(command="p", api_version=V1, interactive_mode="Never")

    config = built(cluster, User(exec=plugin), exec_policy=ExecPolicy(mode="DenyAll"))

    assert config.exec is not None
    assert config.exec.cluster_config == {"audience": "x"}
    assert config.exec.policy.mode == "DenyAll"


@pytest.mark.parametrize(
    ("server", "kept"),
    [
        ("https://h/p?q=1#f", "https://h/p"),
        ("https://h/?q=1", "https://h/?q=1"),
        ("https://h:6443", "https://h:6443"),
    ],
)
def test_query_and_fragment_behind_a_path_are_removed(server: str, kept: str) -> None:
    """CFG-31: query and fragment of a server URL with a path are removed."""
    assert built(Cluster(server=server)).server == kept


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("", 0), ("0", 0), ("30", 30), ("1m", 60), ("1h1m1.5s", 3661.5), ("-5s", -5), ("300ms", 0.3)],
)
def test_a_timeout_is_seconds_or_a_duration(text: str, seconds: float) -> None:
    """CFG-32, CFG-C13: timeout override: a non-negative integer means seconds."""
    assert parse_timeout(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["-5", "soon", "5 s", "1x", "٣"])
def test_any_other_timeout_is_an_error(text: str) -> None:
    """CFG-32, CFG-C13: timeout override: a non-negative integer means seconds."""
    with pytest.raises(ConfigError, match="neither a number of seconds nor a duration"):
        parse_timeout(text)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("shop", "shop"),
        ("ns/shop", "shop"),
        ("Namespace/shop", "shop"),
        ("NAMESPACES/shop", "shop"),
        ("nsshop", "nsshop"),
    ],
)
def test_a_namespace_may_be_typed_with_its_kind(typed: str, meant: str) -> None:
    """CFG-33: Namespace: override."""
    assert plain_namespace(typed) == meant


def test_the_namespace_is_the_override_the_context_or_default() -> None:
    """CFG-33: Namespace: override."""
    overridden = select(CONFIG, Overrides(namespace="ns/mine"), context="a")

    assert (overridden.namespace, overridden.namespace_overridden) == ("mine", True)
    assert (select(CONFIG, context="a").namespace, select(CONFIG).namespace) == ("shop", "default")
    assert not select(CONFIG, context="a").namespace_overridden


def test_the_server_of_last_resort_counts_only_as_a_default() -> None:
    """CFG-34: the fallback default server is `http://localhost:8080`."""
    assert default_server({}).server == "http://localhost:8080"
    chosen = default_server({"KUBERNETES_MASTER": "http://m"})
    over = Overrides(cluster_defaults=chosen)

    assert ClusterConfig.from_kubeconfig(Kubeconfig(), overrides=over).server == "http://m"
    with pytest.raises(EmptyConfig):
        ClusterConfig.from_kubeconfig(Kubeconfig())


class Person:
    """A user at a terminal."""

    def username(self) -> str:
        return "ada"

    def password(self) -> str:
        return "pa55"


def test_the_user_is_prompted_only_without_credentials() -> None:
    """CFG-35: interactive variant: if no user identification was found and a reader was given."""
    asked = ClusterConfig.from_kubeconfig(of(TRUSTING, User()), prompt=Person())
    prompted = ClusterConfig.from_kubeconfig(of(TRUSTING), prompt=Person())

    assert (asked.username, asked.password) == ("ada", "pa55")
    assert (prompted.username, prompted.token) == ("", "t")


def test_without_credentials_there_is_no_configuration_unless_it_is_meant() -> None:
    """needs 29: the absence of credentials is an error, never an anonymous request."""
    with pytest.raises(NoCredentials, match="anonymous=True"):
        ClusterConfig.from_kubeconfig(of(TRUSTING, User()))

    meant = ClusterConfig.from_kubeconfig(of(TRUSTING, User()), anonymous=True)

    assert meant.anonymous
    assert not meant.has_credentials


def test_two_configurations_know_nothing_of_each_other(caplog: pytest.LogCaptureFixture) -> None:
    """needs 33: configuration is a value, there is no global one."""
    caplog.set_level(logging.DEBUG)
    one, two = (ClusterConfig.from_kubeconfig(CONFIG, context=name) for name in "ab")

    assert (one.token, two.token) == ("A", "B")
    assert one == ClusterConfig.from_kubeconfig(CONFIG, context="a")
