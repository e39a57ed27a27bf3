"""A ClusterConfig is consistent or an error, and its repr has no secret."""

from __future__ import annotations

import pickle
from typing import Any, cast

import msgspec
import pytest

from kubeloop.config import (
    AuthProvider,
    ClusterConfig,
    Credentials,
    ExecConfig,
    ExecEnv,
    ExecPolicy,
    Identity,
    Impersonation,
    InvalidConfig,
    NoCredentials,
    StaticCredentials,
    impersonation_headers,
    mask_authorization,
    redacted_url,
)

PLUGIN = ExecConfig(
    command="p", api_version="client.authentication.k8s.io/v1", interactive_mode="Never"
)


def test_a_server_and_a_token_are_enough() -> None:
    config = ClusterConfig(server="https://h:6443", token="t")

    assert config.base_url == "https://h:6443/"
    assert config.namespace == "default"


@pytest.mark.parametrize(
    "given",
    [
        {"token": "t"},
        {"token_file": "/t"},
        {"username": "u"},
        {"client_certificate": b"c", "client_key": b"k"},
        {"client_certificate_file": "/c", "client_key_file": "/k"},
        {"exec": PLUGIN},
        {"auth_provider": AuthProvider(name="oidc")},
        {"credentials": StaticCredentials(Identity(authorization="x"))},
        {"anonymous": True},
    ],
)
def test_any_credentials_are_enough(given: dict[str, object]) -> None:
    with pytest.raises(NoCredentials, match="https://h: no credentials"):
        ClusterConfig(server="https://h")

    made = ClusterConfig(server="https://h", **given)  # type: ignore[arg-type]  # one way each

    assert made.uses_tls


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"ca": b"x", "insecure_skip_tls_verify": True}, "a CA is set"),  # TRN-3
        ({"ca_file": "x", "insecure_skip_tls_verify": True}, "a CA is set"),  # TRN-3
        ({"username": "u"}, "a user name and a token"),  # TRN-8
        ({"username": "u", "token": "", "token_file": "/t"}, "a user name and a"),  # TRN-C8
        ({"exec": PLUGIN, "auth_provider": AuthProvider()}, "exec and auth-provider"),  # REST-11
        ({"exec": ExecConfig()}, "no command"),
        (
            {"exec": msgspec.structs.replace(PLUGIN, policy=ExecPolicy(mode="x"))},
            "unknown plugin policy",
        ),
        ({"client_key": b"k"}, "only one of"),
        ({"client_certificate_file": "c"}, "only one of"),
        ({"proxy_url": "socks4://x"}, "not a valid proxy"),  # CFG-30
        ({"server": "h/path"}, "not an address"),  # REST-3
        ({"server": "https://h:port"}, "not an address"),
    ],
)
def test_a_contradiction_is_an_error(given: dict[str, object], text: str) -> None:
    """TRN-3, TRN-8, TRN-C8, REST-3, REST-11, CFG-30: CA together with insecure is an error."""
    with pytest.raises(InvalidConfig, match=text):
        ClusterConfig(**{"server": "https://h", "token": "t", **given})  # type: ignore[arg-type]


def test_all_contradictions_are_listed() -> None:
    """CFG-40: all problems are in one error, and each can be tested for."""
    with pytest.raises(InvalidConfig) as caught:
        ClusterConfig(server="h/p", username="u", token="t", ca=b"x", insecure_skip_tls_verify=True)

    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ({"server": "h:8080"}, "http://h:8080/"),
        ({"server": "h", "ca": b"x", "token": "t"}, "https://h/"),
        ({"server": "h", "ca_file": "x", "token": "t"}, "https://h/"),
        ({"server": "h", "insecure_skip_tls_verify": True, "token": "t"}, "https://h/"),
        ({"server": "h", "client_certificate": b"c", "client_key": b"k"}, "https://h/"),
        ({"server": "https://h/prefix?q=1#f", "token": "t"}, "https://h/prefix/"),
        ({"server": "[::1]:6443"}, "http://[::1]:6443/"),
    ],
)
def test_the_base_url_has_a_scheme_and_a_final_slash(given: dict[str, object], url: str) -> None:
    """REST-2, REST-3: base URL: query and fragment are dropped."""
    assert ClusterConfig(**given).base_url == url  # type: ignore[arg-type]  # a test's options


def test_no_secret_is_in_the_repr() -> None:
    """REST-9: printing a Config must redact: password, bearer token, auth persister."""
    plugin = msgspec.structs.replace(
        PLUGIN,
        args=("--secret=s3cret",),
        env=(ExecEnv(name="A", value="s3cret"),),
        cluster_config={"k": "s3cret"},
    )
    config = ClusterConfig(
        server="https://h",
        token="s3cret",
        client_certificate=b"s3cret",
        client_key=b"s3cret",
        exec=plugin,
        proxy_url="http://me:s3cret@proxy",
    )
    named = ClusterConfig(
        server="https://h",
        username="ada",
        password="s3cret",
        auth_provider=AuthProvider(name="oidc", config={"refresh-token": "s3cret"}),
    )

    for shown in (repr(config), str(config), repr(named), repr(config.__rich_repr__())):
        assert "s3cret" not in shown
    assert "token=<masked>" in repr(config)
    assert "client_certificate=<6 bytes>" in repr(config)
    assert "token" not in repr(ClusterConfig(server="http://h"))


def test_a_configuration_is_a_value() -> None:
    config = ClusterConfig(server="https://h", token="t")

    assert pickle.loads(pickle.dumps(config)) == config
    assert config.replace(token="u").token == "u"
    assert config.token == "t"
    with pytest.raises(AttributeError):
        config.token = "x"  # type: ignore[misc]  # that is the point
    with pytest.raises(InvalidConfig):
        config.replace(username="u")


def test_the_anonymous_copy_keeps_the_server_and_nothing_else() -> None:
    """REST-10: "Anonymous" copy keeps host, API path, content config, CA."""
    config = ClusterConfig(
        server="https://h",
        ca=b"ca",
        tls_server_name="api",
        token="t",
        impersonate=Impersonation(user="ada"),
        proxy_url="http://p",
        disable_compression=True,
        timeout=7,
        user_agent="me",
    )

    copy = config.without_credentials()

    assert copy == ClusterConfig(
        server="https://h",
        ca=b"ca",
        tls_server_name="api",
        anonymous=True,
        proxy_url="http://p",
        disable_compression=True,
        timeout=7,
        user_agent="me",
    )


@pytest.mark.parametrize(
    "name", ["ca_file", "token_file", "client_key_file", "tls_server_name", "proxy_url"]
)
@pytest.mark.parametrize(
    ("odd", "message"), [("\0", "null character"), ("\ud800", "surrogate pair")]
)
def test_text_that_nothing_can_carry_is_rejected_at_once(name: str, odd: str, message: str) -> None:
    config = ClusterConfig(server="https://h", anonymous=True)

    with pytest.raises(InvalidConfig, match=f"{name}: .*{message}"):
        config.replace(**cast("Any", {name: f"http://a{odd}b"}))


def test_custom_credentials_fit_the_protocol() -> None:
    class Mine:
        async def identity(self) -> Identity:
            return Identity(authorization="Bearer mine")

        async def refresh(self, identity: Identity) -> None: ...

    mine: Credentials = Mine()

    assert ClusterConfig(server="https://h", credentials=mine).credentials is mine


def test_impersonation_headers_say_who() -> None:
    """REST-74, REST-C20: impersonation headers: `Impersonate-User`."""
    who = Impersonation(
        user="ada", uid="7", groups=("a", "b"), extra={"test.example.com/thing": ("x", "y")}
    )

    assert impersonation_headers(who) == (
        ("Impersonate-User", "ada"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
        ("Impersonate-Extra-test.example.com%2Fthing", "x"),
        ("Impersonate-Extra-test.example.com%2Fthing", "y"),
    )


def test_the_user_is_sent_once_anything_is_and_odd_keys_are_escaped() -> None:
    """REST-74: impersonation headers: `Impersonate-User`."""
    assert impersonation_headers(None) == ()
    assert impersonation_headers(Impersonation()) == ()
    assert impersonation_headers(Impersonation(groups=("g",)))[0] == ("Impersonate-User", "")
    ((_, _), (name, _)) = impersonation_headers(Impersonation(extra={"a%é b": ("x",)}))
    assert name == "Impersonate-Extra-a%25%C3%A9%20b"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("Basic abc", "Basic <masked>"),
        ("bearer ", "bearer"),
        ("Bearer", "Bearer"),
        ("NEGOTIATE x", "NEGOTIATE <masked>"),
        ("abc def", "<masked>"),
        ("secret", "<masked>"),
        ("", ""),
    ],
)
def test_an_authorization_header_is_masked(value: str, shown: str) -> None:
    """TRN-23, TRN-C11: debug logging by verbosity: 6 URL+status+time."""
    assert mask_authorization(value) == shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://h:1/p?q", "http://h:1/p?q"),
        ("http://me:pw@h", "http://me:<masked>@h"),
        ("http://token@h", "http://<masked>@h"),
        ("http://u:pw@[", "<masked>"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, shown: str) -> None:
    assert redacted_url(url) == shown


def test_an_empty_server_is_rejected_and_not_taken_for_localhost() -> None:
    with pytest.raises(InvalidConfig, match="no server is set"):
        ClusterConfig(server="")


def test_a_server_that_speaks_neither_http_nor_https_is_rejected() -> None:
    """REST-3: host parsing: empty host means `localhost`."""
    with pytest.raises(InvalidConfig, match="'ftp://host' is neither http nor https"):
        _ = ClusterConfig(server="ftp://host", anonymous=True).base_url
