"""Which kubeconfig files are read, and how they are merged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.config import Cluster, InvalidConfig, Kubeconfig, KubeconfigFiles, User, merge
from kubeloop.config.kubeconfig import overlay
from kubeloop.config.loading import home_directory, load_files, load_kubeconfig


def write(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def listed(*paths: str) -> dict[str, str]:
    return {"KUBECONFIG": os.pathsep.join(paths)}


def test_an_explicit_file_is_the_only_one(tmp_path: Path) -> None:
    """CFG-9: an explicit path (flag) is the only file used."""
    one = write(tmp_path / "one", "current-context: one")
    two = write(tmp_path / "two", "contexts: [{name: x}]")

    config = load_kubeconfig(one, environ=listed(two))

    assert config == Kubeconfig(current_context="one")


def test_an_explicit_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    """CFG-9: an explicit path (flag) is the only file used."""
    with pytest.raises(InvalidConfig, match=r"nowhere: no such file \(check the path"):
        load_kubeconfig(tmp_path / "nowhere", environ={})


def test_a_tilde_in_an_explicit_path_is_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / "mine", "current-context: mine")

    assert load_kubeconfig("~/mine").current_context == "mine"


def test_a_file_named_twice_is_loaded_once_and_order_is_kept() -> None:
    """CFG-10, CFG-11, CFG-C3: and empty names are skipped."""
    files = KubeconfigFiles.from_environ(listed("a", "", "a", "b"))

    assert files.names == ("a", "b")


def test_the_home_file_is_used_only_without_kubeconfig(tmp_path: Path) -> None:
    """CFG-10: otherwise `KUBECONFIG` split on the OS list separator (`:` or `;`)."""
    write(tmp_path / ".kube/config", "current-context: home")
    other = write(tmp_path / "other", "contexts: [{name: x}]")
    home = {"HOME": str(tmp_path)}

    assert load_kubeconfig(environ=home).current_context == "home"
    assert load_kubeconfig(environ={**home, **listed(other)}).current_context == ""


def test_missing_files_are_skipped_with_a_warning_if_all_are(tmp_path: Path) -> None:
    """CFG-11: empty names in the list are skipped; missing files are skipped silently."""
    warnings: list[str] = []
    there = write(tmp_path / "there", "current-context: x")
    gone, lost = str(tmp_path / "gone"), str(tmp_path / "lost")

    some = load_files(KubeconfigFiles.from_environ(listed(gone, there)), warn=warnings.append)
    assert (some.config.current_context, some.missing, warnings) == ("x", (gone,), [])

    load_files(KubeconfigFiles.from_environ(listed(gone, lost)), warn=warnings.append)
    (warning,) = warnings
    assert gone in warning
    assert lost in warning


def test_the_warning_goes_to_the_log_without_a_handler(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """CFG-11: empty names in the list are skipped; missing files are skipped silently."""
    load_files(KubeconfigFiles.from_environ(listed(str(tmp_path / "gone"))))

    assert "gone" in caplog.text


def test_a_broken_file_does_not_hide_the_others(tmp_path: Path) -> None:
    """CFG-12: a file that exists but cannot be read or parsed adds an error."""
    good = write(tmp_path / "good", "current-context: good")
    bad = write(tmp_path / "bad", "clusters: [")
    folder = str(tmp_path)

    loaded = load_files(KubeconfigFiles.from_environ(listed(bad, folder, good)))

    assert loaded.config.current_context == "good"
    assert [bad in str(loaded.problems[0]), folder in str(loaded.problems[1])] == [True, True]
    with pytest.raises(InvalidConfig, match=r"bad.*;.*directory") as caught:
        load_kubeconfig(environ=listed(bad, folder, good))
    assert len(caught.value.problems) == 2


def test_the_first_file_supplies_the_whole_entry(tmp_path: Path) -> None:
    """CFG-13, CFG-C1: merge rule: first file wins."""
    one = write(tmp_path / "1", "users: [{name: red, user: {token: one}}]")
    two = write(
        tmp_path / "2", "users: [{name: red, user: {username: two}}, {name: blue, user: {}}]"
    )

    config = load_kubeconfig(environ=listed(one, two))

    assert config.users == {"red": User(token="one", origin=one), "blue": User(origin=two)}


def test_the_first_current_context_that_is_set_wins(tmp_path: Path) -> None:
    """CFG-13, CFG-C2: merge rule: first file wins."""
    one = write(tmp_path / "1", "contexts: []")
    two = write(tmp_path / "2", "current-context: b")
    three = write(tmp_path / "3", "current-context: c")

    assert load_kubeconfig(environ=listed(one, two, three)).current_context == "b"


NAMES = st.sampled_from("abc")
USERS = st.builds(User, token=st.sampled_from(["", "x", "y"]))
CONFIGS = st.builds(
    Kubeconfig, users=st.dictionaries(NAMES, USERS), current_context=st.sampled_from(["", "p", "q"])
)


@given(st.lists(CONFIGS, max_size=4))
def test_merging_is_first_wins_entry_by_entry(configs: list[Kubeconfig]) -> None:
    """CFG-13: merge rule: first file wins."""
    merged = merge(configs)

    for name in "abc":
        entries = [config.users[name] for config in configs if name in config.users]
        assert merged.users.get(name) == next(iter(entries), None)
    assert merged == merge([merge(configs[:2]), *configs[2:]])


def test_laying_over_replaces_what_is_set_and_erases_nothing() -> None:
    """CFG-14: generic merge of two values (used for overrides)."""
    base = User(
        token="a",
        username="u",
        impersonate_groups=("x",),
        impersonate_extra={"k": ("1",), "m": ("2",)},
    )
    over = User(
        token="b", impersonate_groups=("y", "z"), impersonate_extra={"k": ("9",), "n": ("3",)}
    )

    result = overlay(base, over)

    assert result == User(
        token="b",
        username="u",
        impersonate_groups=("y", "z"),
        impersonate_extra={"k": ("9",), "m": ("2",), "n": ("3",)},
    )


def test_the_home_directory_is_home_and_nothing_else() -> None:
    """CFG-15: home directory: `$HOME`; on Windows the first of HOME, HOMEDRIVE+HOMEPATH."""
    assert home_directory({"HOME": "/h"}, platform="posix") == Path("/h")
    assert home_directory({"USERPROFILE": "/p"}, platform="posix") is None


def test_on_windows_the_home_with_a_kubeconfig_wins(tmp_path: Path) -> None:
    """CFG-15: home directory: `$HOME`; on Windows the first of HOME, HOMEDRIVE+HOMEPATH."""
    home, profile = tmp_path / "home", tmp_path / "profile"
    home.mkdir()
    write(profile / ".kube/config", "")
    variables = {
        "HOME": str(home),
        "USERPROFILE": str(profile),
        "HOMEDRIVE": str(tmp_path),
        "HOMEPATH": "/drive",
    }

    assert home_directory(variables, platform="nt") == profile
    write(tmp_path / "drive/.kube/config", "")
    assert home_directory(variables, platform="nt") == tmp_path / "drive"


def test_on_windows_an_existing_home_wins_over_one_that_is_only_set(tmp_path: Path) -> None:
    """CFG-15: home directory: `$HOME`; on Windows the first of HOME, HOMEDRIVE+HOMEPATH."""
    profile = tmp_path / "profile"
    variables = {"HOME": str(tmp_path / "gone"), "USERPROFILE": str(profile)}

    assert home_directory(variables, platform="nt") == tmp_path / "gone"
    profile.mkdir()
    assert home_directory(variables, platform="nt") == profile
    assert home_directory({}, platform="nt") is None


def test_the_legacy_file_is_copied_to_its_new_place(tmp_path: Path) -> None:
    """CFG-16: migration."""
    old = tmp_path / ".kube/.kubeconfig"
    write(old, "current-context: old")
    old.chmod(0o740)

    config = load_kubeconfig(environ={"HOME": str(tmp_path)})

    assert config.current_context == "old"
    assert (tmp_path / ".kube/config").stat().st_mode & 0o777 == 0o640
    assert old.exists()


def test_the_legacy_file_does_not_replace_one_that_is_there(tmp_path: Path) -> None:
    """CFG-16: and a missing legacy file is no error."""
    write(tmp_path / ".kube/config", "current-context: new")
    assert load_kubeconfig(environ={"HOME": str(tmp_path)}).current_context == "new"

    write(tmp_path / ".kube/.kubeconfig", "current-context: old")
    assert load_kubeconfig(environ={"HOME": str(tmp_path)}).current_context == "new"


def test_a_directory_in_the_legacy_place_is_an_error(tmp_path: Path) -> None:
    """CFG-16: migration."""
    (tmp_path / ".kube/.kubeconfig").mkdir(parents=True)

    with pytest.raises(InvalidConfig, match="it is a directory"):
        load_kubeconfig(environ={"HOME": str(tmp_path)})


RELATIVE = """
clusters: [{name: c, cluster: {certificate-authority: certs/ca.pem}}]
users:
- name: u
  user:
    client-key: certs/k.pem
    client-certificate: /abs/c.pem
    tokenFile: ../token
    exec: {command: ./bin/plugin}
- name: bare
  user: {exec: {command: plugin}}
"""


def test_paths_mean_what_they_meant_beside_their_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CFG-17, CFG-C4: relative paths of `certificate-authority`, `client-certificate`."""
    path = write(tmp_path / "kube/config", RELATIVE)
    monkeypatch.chdir("/")

    config = load_kubeconfig(path, environ={})

    user = config.users["u"]
    assert config.clusters["c"].certificate_authority == str(tmp_path / "kube/certs/ca.pem")
    assert user.client_key == str(tmp_path / "kube/certs/k.pem")
    assert user.client_certificate == "/abs/c.pem"
    assert user.token_file == str(tmp_path / "token")
    assert user.exec is not None
    assert user.exec.command == str(tmp_path / "kube/bin/plugin")
    bare = config.users["bare"].exec
    assert bare is not None
    assert bare.command == "plugin"


def test_a_relative_origin_counts_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CFG-17: relative paths of `certificate-authority`, `client-certificate`."""
    write(tmp_path / "kube/config", RELATIVE)
    monkeypatch.chdir(tmp_path)

    config = load_kubeconfig(environ=listed("kube/config"))

    assert config.users["u"].client_key == str(tmp_path / "kube/certs/k.pem")


def test_paths_stay_as_they_are_when_asked_or_without_an_origin(tmp_path: Path) -> None:
    """CFG-18: entries without a location of origin are not resolved."""
    from kubeloop.config.loading import with_absolute_paths

    path = write(tmp_path / "config", RELATIVE)
    raw = load_files(KubeconfigFiles(explicit=path, resolve_paths=False)).config
    homeless = Kubeconfig(clusters={"c": Cluster(certificate_authority="ca.pem")})

    assert raw.users["u"].client_key == "certs/k.pem"
    assert with_absolute_paths(homeless) == homeless
