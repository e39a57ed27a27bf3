"""minify, flatten and shorten."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeloop.config import (
    AuthProvider,
    Cluster,
    ConfigError,
    Context,
    ContextNotFound,
    ExecConfig,
    ExecEnv,
    InvalidConfig,
    Kubeconfig,
    User,
    flatten,
    minify,
    shorten,
)
from kubeloop.config.parsing import to_wire

CONFIG = Kubeconfig(
    current_context="b",
    clusters={"ca": Cluster(server="a"), "cb": Cluster(server="b")},
    users={"ua": User(token="A"), "ub": User(token="B")},
    contexts={"a": Context(cluster="ca", user="ua"), "b": Context(cluster="cb", user="ub")},
)


def test_minify_keeps_the_current_context_and_what_it_names() -> None:
    """CFG-45: Helpers: minify keeps only the current context with its cluster and user."""
    small = minify(CONFIG)

    assert (set(small.contexts), set(small.users), set(small.clusters)) == ({"b"}, {"ub"}, {"cb"})


@pytest.mark.parametrize("section", ["users", "clusters"])
def test_minify_misses_what_is_not_there(section: str) -> None:
    """CFG-45: Helpers: minify keeps only the current context with its cluster and user."""
    contexts = {"b": Context(cluster="cb", user="ub")}
    there = {"users": CONFIG.users, "clusters": CONFIG.clusters, section: {}}
    config = Kubeconfig(
        current_context="b",
        contexts=contexts,
        users=there["users"],  # type: ignore[arg-type]  # one of the two is empty
        clusters=there["clusters"],  # type: ignore[arg-type]  # one of the two is empty
    )

    with pytest.raises(InvalidConfig, match="does not exist"):
        minify(config)
    with pytest.raises(ContextNotFound):
        minify(Kubeconfig(current_context="nope"))


def test_flatten_takes_files_in(tmp_path: Path) -> None:
    """CFG-45: Helpers: minify keeps only the current context with its cluster and user."""
    for name in ("ca", "crt", "key"):
        (tmp_path / name).write_text(name)
    config = Kubeconfig(
        clusters={"c": Cluster(certificate_authority=str(tmp_path / "ca"))},
        users={
            "u": User(client_certificate=str(tmp_path / "crt"), client_key=str(tmp_path / "key"))
        },
    )

    flat = flatten(config)

    assert flat.clusters["c"] == Cluster(certificate_authority_data=b"ca")
    assert flat.users["u"] == User(client_certificate_data=b"crt", client_key_data=b"key")


def test_flatten_rejects_a_file_and_its_data_and_a_missing_file() -> None:
    """CFG-45: Helpers: minify keeps only the current context with its cluster and user."""
    both = Cluster(certificate_authority=__file__, certificate_authority_data=b"x")

    with pytest.raises(InvalidConfig, match="both set"):
        flatten(Kubeconfig(clusters={"c": both}))
    with pytest.raises(ConfigError, match="/no: No such file"):
        flatten(Kubeconfig(users={"u": User(client_key="/no")}))


def test_shorten_leaves_no_secret() -> None:
    """CFG-45: Helpers: minify keeps only the current context with its cluster and user."""
    user = User(
        client_certificate_data=b"s3cret",
        client_key_data=b"s3cret",
        token="s3cret",
        password="s3cret",
        username="ada",
        auth_provider=AuthProvider(name="oidc", config={"id-token": "s3cret", "client-id": "me"}),
        exec=ExecConfig(command="p", env=(ExecEnv(name="A", value="s3cret"),)),
    )
    cluster = Cluster(certificate_authority_data=b"s3cret")

    short = shorten(Kubeconfig(users={"u": user}, clusters={"c": cluster}))

    shown = str(to_wire(short.users["u"])) + str(to_wire(short.clusters["c"]))
    assert "s3cret" not in shown
    assert "czNjcmV0" not in shown
    assert shown.count("DATA+OMITTED") == 3
    assert shown.count("REDACTED") == 4
    assert "ada" in shown
    assert shorten(Kubeconfig(users={"u": User()})) == Kubeconfig(users={"u": User()})
