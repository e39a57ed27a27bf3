"""`kubeloop edit` opens an editor, and sends only what was changed in it."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from kubeloop.blocking import Client
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer

from .conftest import Call

Editor = Callable[[str], None]


@pytest.fixture
def client(kube_blocking_client: Client) -> Client:
    """With a config map in the namespace shop."""
    kube_blocking_client.core_v1.config_maps("shop").create(
        ConfigMap(metadata=ObjectMeta(name="paint"), data={"colour": "blue", "size": "1"})
    )
    return kube_blocking_client


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kube_server: APIServer) -> Editor:
    """Sets the program of the editor: Python that may change `text`, on its run `number`."""

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # for the copies that are kept

    def use(program: str) -> None:
        script = tmp_path / "editor.py"
        script.write_text(f"""
import json, sys, urllib.request
from pathlib import Path

path, log = Path(sys.argv[-1]), Path({str(tmp_path / "opened")!r})
log.mkdir(exist_ok=True)
number = len(list(log.iterdir())) + 1
text = path.read_text()
(log / str(number)).write_text(text)


def write_as_another(change):
    url = "{kube_server.config.server}/api/v1/namespaces/shop/configmaps/paint"
    kind = {{"Content-Type": "application/merge-patch+json"}}
    body = json.dumps(change).encode()
    urllib.request.urlopen(urllib.request.Request(url, body, kind, method="PATCH"))


{program}
path.write_text(text)
""")
        monkeypatch.setenv("KUBE_EDITOR", f"{sys.executable} {script}")

    return use


def shown_texts(tmp_path: Path) -> list[str]:
    """What the editor showed, each time."""
    files = sorted((tmp_path / "opened").iterdir(), key=lambda file: int(file.name))
    return [file.read_text() for file in files]


def data(client: Client) -> dict[str, str]:
    return client.core_v1.config_maps("shop").get("paint").data


def edit(kubeloop: Call) -> tuple[int, str, str]:
    result = kubeloop("edit", "cm", "paint", "-n", "shop")
    return result.exit_code, result.stdout, result.stderr


def copy_in(stderr: str) -> Path:
    """The file that is kept."""
    found = re.search(r'A copy of your changes has been stored to "(.*)"', stderr)
    assert found is not None, stderr
    return Path(found[1])


def test_the_difference_is_stored(
    kubeloop: Call, client: Client, editor: Editor, tmp_path: Path
) -> None:
    editor("text = text.replace('blue', 'red')")

    assert edit(kubeloop) == (0, "configmap/paint edited\n", "")

    assert data(client) == {"colour": "red", "size": "1"}
    (text,) = shown_texts(tmp_path)
    assert text.startswith("# Please edit the object below.")
    assert "managedFields" not in text


@pytest.mark.parametrize("program", ["", "text += '# a comment\\n'", "text = ''"])
def test_an_unchanged_or_empty_text_changes_nothing(
    kubeloop: Call, client: Client, editor: Editor, program: str
) -> None:
    editor(program)

    assert edit(kubeloop) == (0, "", "Edit cancelled, no changes made.\n")

    assert data(client)["colour"] == "blue"


def test_changes_of_other_writers_to_other_fields_survive(
    kubeloop: Call, client: Client, editor: Editor
) -> None:
    editor("write_as_another({'data': {'size': '2'}}); text = text.replace('blue', 'red')")

    assert edit(kubeloop)[0] == 0

    assert data(client) == {"colour": "red", "size": "2"}


def test_a_change_of_the_same_field_is_a_conflict_and_the_text_is_kept(
    kubeloop: Call, client: Client, editor: Editor
) -> None:
    editor("write_as_another({'data': {'colour': 'green'}}); text = text.replace('blue', 'red')")

    code, stdout, stderr = edit(kubeloop)

    assert (code, stdout) == (1, "")
    assert "another writer changed data.colour" in stderr
    assert "colour: red" in copy_in(stderr).read_text()
    assert data(client)["colour"] == "green"


def test_a_text_that_is_not_yaml_is_opened_again_with_the_error(
    kubeloop: Call, client: Client, editor: Editor, tmp_path: Path
) -> None:
    editor(
        "text = text.replace('blue', '[') if number == 1 else text.replace('colour: [', 'colour: red')"
    )

    assert edit(kubeloop) == (0, "configmap/paint edited\n", "")

    _, second = shown_texts(tmp_path)
    assert '# configmaps "paint" was not valid:' in second
    assert "# * YAML, line " in second
    assert data(client)["colour"] == "red"


def test_what_the_server_rejects_is_opened_again_with_the_error(
    kubeloop: Call, client: Client, editor: Editor, tmp_path: Path
) -> None:
    editor(
        "text = text.replace('data:', 'data:\\n  bad key: x')"
        " if number == 1 else text.replace('bad key', 'good-key')"
    )

    assert edit(kubeloop)[0] == 0

    assert "422 Invalid" in shown_texts(tmp_path)[1]
    assert data(client)["good-key"] == "x"


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("text = text.replace('name: paint', 'name: other')", "apiVersion, kind and name"),
        ("text = text.replace('blue', '[')", "YAML, line "),
        ("text = '[1]'", "expected one object"),
        ("text = text.replace('colour: blue', 'bad key: blue')", "422 Invalid"),
    ],
)
def test_the_same_invalid_text_twice_ends_the_command_and_is_kept(
    kubeloop: Call, client: Client, editor: Editor, program: str, text: str
) -> None:
    editor(program)

    code, stdout, stderr = edit(kubeloop)

    assert (code, stdout) == (1, "")
    line = stderr.splitlines()[-1]
    assert line.startswith("error: edit configmap/paint: Edit cancelled, no valid changes")
    assert text in line
    assert copy_in(stderr).exists()
    assert data(client)["colour"] == "blue"


def test_a_correction_of_an_object_that_has_changed_is_refused_and_kept(
    kubeloop: Call, client: Client, editor: Editor
) -> None:
    editor(
        "text = text.replace('blue', '[') if number == 1 else text.replace('[', 'red')\n"
        "if number == 1: write_as_another({'data': {'size': '2'}})"
    )

    code, _, stderr = edit(kubeloop)

    assert code == 1
    assert "it was changed while you corrected the text (edit it again)" in stderr
    assert copy_in(stderr).exists()


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("no-such-editor", 'unable to launch the editor "no-such-editor" (set KUBE_EDITOR)'),
        (f"{sys.executable} -c 'raise SystemExit(3)'", "exit code 3"),
        ("'", "unable to launch the editor"),
    ],
)
def test_an_editor_that_fails_changes_nothing(
    kubeloop: Call, client: Client, monkeypatch: pytest.MonkeyPatch, command: str, text: str
) -> None:
    monkeypatch.setenv("KUBE_EDITOR", command)

    code, stdout, stderr = edit(kubeloop)

    assert (code, stdout) == (1, "")
    (line,) = stderr.splitlines()
    assert text in line
