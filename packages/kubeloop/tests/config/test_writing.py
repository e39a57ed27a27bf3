"""Writing kubeconfig files: only entries that changed are written."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from kubeloop.config import (
    Cluster,
    ConfigError,
    Context,
    ContextNotFound,
    ExecConfig,
    InvalidConfig,
    Kubeconfig,
    KubeconfigFiles,
    KubeconfigLocked,
    User,
    delete_entry,
    load_kubeconfig,
    modify_kubeconfig,
    set_cluster,
    set_context,
    set_credentials,
    use_context,
    write_kubeconfig,
)
from kubeloop.config.parsing import read_document

UNKNOWN = """
apiVersion: v1
kind: Config
future-top: {a: 1}
current-context: b
users:
- name: zoe
  user: {token: z}
- name: ada
  future-entry: 5
  user:
    token: old
    future-field: [x]
    exec: {command: p, apiVersion: client.authentication.k8s.io/v1, future-exec: q}
contexts:
- name: b
  context: {cluster: c, user: ada, future-context: 1}
"""


@pytest.fixture
def files(tmp_path: Path) -> KubeconfigFiles:
    path = tmp_path / "config"
    path.write_text(UNKNOWN)
    return KubeconfigFiles(explicit=str(path))


def document(files: KubeconfigFiles) -> dict[str, object]:
    return read_document(Path(files.explicit).read_bytes())


def test_unknown_keys_survive_an_edit(files: KubeconfigFiles) -> None:
    set_credentials("ada", User(token="new"), files=files)
    set_context("b", namespace="shop", files=files)

    text = document(files)
    assert text["future-top"] == {"a": 1}
    assert text["users"] == [
        {
            "name": "ada",
            "future-entry": 5,
            "user": {
                "token": "new",
                "future-field": ["x"],
                "exec": {
                    "command": "p",
                    "apiVersion": "client.authentication.k8s.io/v1",
                    "future-exec": "q",
                },
            },
        },
        {"name": "zoe", "user": {"token": "z"}},
    ]
    assert text["contexts"] == [
        {
            "name": "b",
            "context": {"cluster": "c", "user": "ada", "namespace": "shop", "future-context": 1},
        }
    ]


def test_writing_sorts_entries_by_name(files: KubeconfigFiles) -> None:
    """CFG-2: in memory the lists are maps by name."""
    set_cluster("m", Cluster(server="https://m"), files=files)
    set_cluster("a", Cluster(server="https://a"), files=files)

    clusters = document(files)["clusters"]

    assert isinstance(clusters, list)
    assert [entry["name"] for entry in clusters] == ["a", "m"]


def test_a_file_is_written_for_its_owner_only_and_directories_are_made(tmp_path: Path) -> None:
    """CFG-19: Writing: parent directories created with 0755, file mode 0600."""
    path = tmp_path / "deep/er/config"
    old = os.umask(0o022)
    try:
        set_context("x", cluster="c", files=KubeconfigFiles(explicit=str(path)))
    finally:
        os.umask(old)

    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o755
    assert [entry.name for entry in path.parent.iterdir()] == ["config"]
    assert load_kubeconfig(path, environ={}).contexts["x"].cluster == "c"


def test_a_link_stays_a_link(tmp_path: Path, files: KubeconfigFiles) -> None:
    link = tmp_path / "link"
    link.symlink_to(files.explicit)

    use_context("", files=KubeconfigFiles(explicit=str(link)))

    assert link.is_symlink()
    assert not document(files)["current-context"]


def test_a_lock_of_another_process_is_an_error_and_stays(files: KubeconfigFiles) -> None:
    """CFG-19: Writing: parent directories created with 0755, file mode 0600."""
    lock = Path(f"{files.explicit}.lock")
    lock.touch()

    with pytest.raises(KubeconfigLocked, match="another process may be writing"):
        set_context("x", files=files)

    assert lock.exists()
    assert document(files) == read_document(UNKNOWN)


def test_the_lock_is_gone_afterwards_also_after_a_failure(files: KubeconfigFiles) -> None:
    """CFG-19: Writing: parent directories created with 0755, file mode 0600."""
    with pytest.raises(ContextNotFound):
        use_context("nope", files=files)
    use_context("b", files=files)

    assert not Path(f"{files.explicit}.lock").exists()


def test_paths_are_written_from_where_the_file_is(tmp_path: Path) -> None:
    """CFG-19: Writing: parent directories created with 0755, file mode 0600."""
    path = tmp_path / "kube/config"
    user = User(
        client_certificate=str(tmp_path / "kube/certs/c.pem"),
        client_key="/elsewhere/k.pem",
        exec=ExecConfig(command=str(tmp_path / "kube/plugin")),
    )
    set_credentials("u", user, files=KubeconfigFiles(explicit=str(path)))

    written = {
        "client-certificate": "certs/c.pem",
        "client-key": "/elsewhere/k.pem",
        "exec": {"command": "./plugin"},
    }
    assert read_document(path.read_bytes())["users"] == [{"name": "u", "user": written}]


def test_a_relative_path_that_leads_out_is_an_error(tmp_path: Path) -> None:
    """CFG-19: Writing: parent directories created with 0755, file mode 0600."""
    files = KubeconfigFiles(explicit=str(tmp_path / "config"))

    with pytest.raises(ConfigError, match="use an absolute path"):
        set_credentials("u", User(client_key="../k.pem"), files=files)


@pytest.fixture
def two(tmp_path: Path) -> KubeconfigFiles:
    (tmp_path / "one").write_text("users: [{name: ada, user: {token: a}}]")
    (tmp_path / "two").write_text(
        "current-context: x\nusers: [{name: bob, user: {token: b}}]\ncontexts: [{name: x}, {name: w}]"
    )
    return KubeconfigFiles(precedence=(str(tmp_path / "one"), str(tmp_path / "two")))


def test_entries_go_back_to_the_file_they_came_from(two: KubeconfigFiles) -> None:
    """CFG-20: ModifyConfig writes changed or new entries to their file of origin."""
    set_credentials("bob", User(token="B"), files=two)
    set_credentials("new", User(token="N"), files=two)
    delete_entry("contexts", "w", files=two)
    delete_entry("contexts", "never-there", files=two)

    one, other = (load_kubeconfig(name, environ={}) for name in two.precedence)
    assert {name: user.token for name, user in one.users.items()} == {"ada": "a", "new": "N"}
    assert {name: user.token for name, user in other.users.items()} == {"bob": "B"}
    assert set(other.contexts) == {"x"}


def test_a_new_value_of_an_entry_stays_in_its_file(two: KubeconfigFiles) -> None:
    """CFG-20: ModifyConfig writes changed or new entries to their file of origin."""
    merged = load_kubeconfig(environ={"KUBECONFIG": os.pathsep.join(two.precedence)})
    changed = msgspec.structs.replace(merged, users={**merged.users, "bob": User(token="B")})

    modify_kubeconfig(changed, files=two)

    assert load_kubeconfig(two.precedence[1], environ={}).users["bob"].token == "B"
    assert set(load_kubeconfig(two.precedence[0], environ={}).users) == {"ada"}


def test_the_current_context_is_set_in_the_default_file_and_cleared_where_it_is(
    two: KubeconfigFiles,
) -> None:
    """CFG-20: ModifyConfig writes changed or new entries to their file of origin."""
    use_context("", files=two)
    assert [load_kubeconfig(n, environ={}).current_context for n in two.precedence] == ["", ""]

    use_context("w", files=two)
    assert [load_kubeconfig(n, environ={}).current_context for n in two.precedence] == ["w", ""]


def test_where_a_new_entry_goes(tmp_path: Path) -> None:
    """CFG-20: ModifyConfig writes changed or new entries to their file of origin."""
    first, second = str(tmp_path / "1"), str(tmp_path / "2")
    files = KubeconfigFiles(precedence=(first, second))

    assert files.default_file() == second
    assert files.default_file(otherwise="first") == first
    Path(second).touch()
    assert files.default_file(otherwise="first") == second
    assert KubeconfigFiles(explicit="e", precedence=(first,)).default_file() == "e"
    assert KubeconfigFiles().default_file() == ""


def test_nothing_is_written_over_a_file_that_cannot_be_read(two: KubeconfigFiles) -> None:
    broken = Path(two.precedence[1])
    broken.write_text("users: [")

    with pytest.raises(InvalidConfig, match="two"):
        set_credentials("bob", User(token="B"), files=two)

    assert broken.read_text() == "users: ["


def test_no_file_to_write_is_an_error() -> None:
    with pytest.raises(ConfigError, match="set KUBECONFIG or HOME"):
        set_context("x", cluster="c", files=KubeconfigFiles())


def test_an_edit_that_changes_nothing_writes_nothing(files: KubeconfigFiles) -> None:
    set_credentials("ada", User(token="old"), files=files)

    assert Path(files.explicit).read_text() == UNKNOWN


def test_a_whole_config_is_written_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "config"
    config = Kubeconfig(
        current_context="x",
        clusters={"c": Cluster(server="https://h", certificate_authority_data=b"ca")},
        users={"u": User(token="t", impersonate_extra={"k": ("v",)})},
        contexts={"x": Context(cluster="c", user="u", extensions={"e": {"n": 1}})},
        extensions={"top": [1, 2]},
        preferences={"colors": True},
    )

    write_kubeconfig(config, path)

    back = load_kubeconfig(path, environ={})
    homes = {"origin": str(path)}
    assert back == msgspec.structs.replace(
        config,
        clusters={"c": msgspec.structs.replace(config.clusters["c"], **homes)},
        users={"u": msgspec.structs.replace(config.users["u"], **homes)},
        contexts={"x": msgspec.structs.replace(config.contexts["x"], **homes)},
    )
    assert path.stat().st_mode & 0o777 == 0o600


def test_top_level_extensions_and_preferences_are_written(files: KubeconfigFiles) -> None:
    config = load_kubeconfig(files.explicit, environ={})
    changed = msgspec.structs.replace(config, extensions={"e": 1}, preferences={"p": 2})

    modify_kubeconfig(changed, files=files)

    assert document(files)["extensions"] == [{"name": "e", "extension": 1}]
    assert document(files)["preferences"] == {"p": 2}


def test_a_name_that_looks_like_a_number_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("users: [{name: 7, user: {token: a}}, {name: true, user: {token: b}}]")
    files = KubeconfigFiles(explicit=str(path))

    set_credentials("7", User(token="A"), files=files)
    delete_entry("users", "true", files=files)

    assert {n: u.token for n, u in load_kubeconfig(path, environ={}).users.items()} == {"7": "A"}
