"""Every problem of a kubeconfig is found, and named."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeloop.config import (
    AuthProvider,
    Cluster,
    ConfigError,
    Context,
    ContextNotFound,
    EmptyConfig,
    ExecConfig,
    ExecEnv,
    ExecPolicy,
    InvalidConfig,
    Kubeconfig,
    User,
    check_kubeconfig,
)
from kubeloop.config.validation import (
    cluster_problems,
    context_problems,
    proxy_problem,
    user_problems,
)

V1 = "client.authentication.k8s.io/v1"
PLUGIN = ExecConfig(command="p", api_version=V1, interactive_mode="Never")


def test_a_config_that_says_nothing_is_the_empty_error() -> None:
    """CFG-41: wholly empty config -> empty-config error."""
    with pytest.raises(EmptyConfig, match="set KUBECONFIG"):
        check_kubeconfig(Kubeconfig())


def test_every_fault_of_every_entry_is_listed_at_once() -> None:
    """CFG-40: all problems are in one error, and each can be tested for."""
    config = Kubeconfig(
        current_context="gone",
        clusters={"c": Cluster(proxy_url="ftp://x")},
        users={"u": User(token="t", username="n", impersonate_groups=("g",))},
        contexts={"x": Context(cluster="c", user="missing")},
    )

    with pytest.raises(InvalidConfig, match="invalid configuration: ") as caught:
        check_kubeconfig(config)

    problems = [str(problem) for problem in caught.value.problems]
    assert len(problems) == 6
    assert caught.value.has(ContextNotFound)
    assert not caught.value.has(EmptyConfig)
    assert all(problem in str(caught.value) for problem in problems)


def test_a_good_config_has_no_faults(tmp_path: Path) -> None:
    """CFG-C8: a token and a client certificate are no contradiction."""
    pem = tmp_path / "x.pem"
    pem.write_text("x")
    config = Kubeconfig(
        current_context="x",
        clusters={"c": Cluster(server="https://h", certificate_authority=str(pem))},
        users={
            "u": User(token="t", client_certificate=str(pem), client_key=str(pem), token_file="/no")
        },
        contexts={"x": Context(cluster="c", user="u", namespace="shop")},
    )

    check_kubeconfig(config)


def texts(problems: list[ConfigError]) -> str:
    return "; ".join(str(problem) for problem in problems)


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        (Cluster(), "it is empty"),
        (Cluster(tls_server_name="x"), "no server"),
        (Cluster(server="s", proxy_url="socks4://x"), "not a valid proxy"),
        (
            Cluster(server="s", certificate_authority=__file__, certificate_authority_data=b"x"),
            "both set",
        ),
        (
            Cluster(server="s", certificate_authority="/no/ca"),
            "cannot read certificate-authority /no/ca: No such",
        ),
        (Cluster(server="s", certificate_authority="a\0b"), "a\\x00b: embedded null"),
    ],
)
def test_what_can_be_wrong_with_a_cluster(cluster: Cluster, message: str) -> None:
    """CFG-42: cluster errors: no server; invalid proxy-url."""
    assert message in texts(cluster_problems("c", cluster))
    assert 'cluster "c"' in texts(cluster_problems("c", cluster))


@pytest.mark.parametrize(
    ("user", "message"),
    [
        (User(client_certificate=__file__, client_certificate_data=b"x"), "client-certificate and"),
        (
            User(client_certificate_data=b"x", client_key=__file__, client_key_data=b"x"),
            "client-key and client-key-data are both set",
        ),
        (User(client_certificate_data=b"x"), "without its key"),
        (
            User(client_certificate="/no/c", client_key_data=b"k"),
            "cannot read client-certificate /no/c",
        ),
        (User(client_certificate_data=b"x", client_key="/no/k"), "cannot read client-key /no/k"),
        (User(token="t", username="u"), "more than one kind of credentials"),
        (User(token="t", password="p"), "more than one kind of credentials"),
        (User(exec=PLUGIN, auth_provider=AuthProvider(name="oidc")), "exec and auth-provider"),
        (User(exec=ExecConfig()), "no command"),
        (User(exec=ExecConfig(command="p")), "no apiVersion"),
        (User(exec=ExecConfig(command="p", env=(ExecEnv(value="v"),))), "without a name"),
        (User(exec=ExecConfig(command="p", api_version=V1)), "no interactiveMode"),
        (User(exec=ExecConfig(interactive_mode="Maybe")), "unknown interactiveMode 'Maybe'"),
        (User(impersonate_uid="7"), "set as"),
        (User(impersonate_groups=("g",)), "set as"),
        (User(impersonate_extra={"k": ("v",)}), "set as"),
        (User(exec=ExecConfig(policy=ExecPolicy(mode="Some"))), "unknown plugin policy"),
    ],
)
def test_what_can_be_wrong_with_a_user(user: User, message: str) -> None:
    """CFG-43, CFG-C8, CFG-C10, CFG-C11: user errors: cert file and data both set."""
    assert message in texts(user_problems("u", user))


def test_a_token_file_beside_a_user_name_is_no_fault_of_the_file() -> None:
    """CFG-43: the resulting configuration rejects them (TRN-C8)."""
    assert user_problems("u", User(token_file="/t", username="u")) == []


@pytest.mark.parametrize(
    ("name", "context", "message"),
    [
        ("", Context(cluster="c", user="u"), "without a name"),
        ("x", Context(cluster="c"), "no user"),
        ("x", Context(cluster="c", user="no"), 'user "no" does not exist'),
        ("x", Context(user="u"), "no cluster"),
        ("x", Context(cluster="no", user="u"), 'cluster "no" does not exist'),
        ("x", Context(cluster="c", user="u", namespace="No_Label"), "namespace 'No_Label'"),
    ],
)
def test_what_can_be_wrong_with_a_context(name: str, context: Context, message: str) -> None:
    """CFG-44: context errors: empty name, missing or unknown user, missing or unknown cluster."""
    config = Kubeconfig(clusters={"c": Cluster(server="s")}, users={"u": User()})

    assert message in texts(context_problems(name, context, config))


@pytest.mark.parametrize("url", ["", "http://p", "https://p:3128", "socks5://u:p@h:1080"])
def test_three_kinds_of_proxy_are_known(url: str) -> None:
    """CFG-30, CFG-C12: `proxy-url` schemes: http, https, socks5 only."""
    assert proxy_problem(url) == ""


@pytest.mark.parametrize("url", ["socks4://x", "p:3128", "http://", "http://u:s3cret@[", "ftp://h"])
def test_any_other_proxy_is_a_fault_without_its_password(url: str) -> None:
    """CFG-30, CFG-C12: `proxy-url` schemes: http, https, socks5 only."""
    assert "not a valid proxy" in proxy_problem(url)
    assert "s3cret" not in proxy_problem(url)


def test_no_fault_tells_a_secret() -> None:
    user = User(token="s3cret", username="n", password="s3cret", client_key_data=b"s3cret")

    assert "s3cret" not in texts(user_problems("u", user))
