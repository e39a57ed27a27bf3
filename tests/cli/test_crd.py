"""`kubeloop crd`: from CRDs to classes and back."""

from __future__ import annotations

from pathlib import Path

from .conftest import Call
from .test_apply import CRD

OTHER = CRD.replace("websites", "shops").replace("Website", "Shop")


def test_classes_of_a_file_give_the_same_definition_back(kubeloop: Call, tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text(CRD)

    made = kubeloop("crd", "generate", "crd.yaml", "-o", "generated_website.py")
    shown = kubeloop("crd", "show", "generated_website:Website")

    assert (made.exit_code, made.stdout) == (0, "")
    assert shown.exit_code == 0, shown.stderr
    assert "name: websites.example.com" in shown.stdout
    assert "domain:" in shown.stdout


def test_a_definition_may_be_in_the_cluster_or_come_through_a_pipe(kubeloop: Call) -> None:
    kubeloop("apply", "-f", "-", stdin=CRD)

    installed = kubeloop("crd", "generate", "websites.example.com")
    piped = kubeloop("crd", "generate", "-", stdin=CRD)

    assert "class Website(" in installed.stdout
    assert installed.stdout == piped.stdout


def test_several_definitions_are_several_modules(kubeloop: Call, tmp_path: Path) -> None:
    (tmp_path / "crds.yaml").write_text(f"{CRD}---{OTHER}")

    refused = kubeloop("crd", "generate", "crds.yaml")
    written = kubeloop("crd", "generate", "crds.yaml", "-o", "kinds")

    assert refused.exit_code == 2
    assert "2 CRDs are in it" in refused.stderr
    assert written.stdout.splitlines() == ["kinds/website.py", "kinds/shop.py"]
    assert "class Shop(" in (tmp_path / "kinds" / "shop.py").read_text()


def test_a_version_that_is_not_there_is_a_mistake(kubeloop: Call) -> None:
    result = kubeloop("crd", "generate", "-", "--version", "v9", stdin=CRD)

    assert result.exit_code == 2
    assert "no version 'v9' (it has v1)" in result.stderr


def test_a_file_without_definitions_is_a_mistake(kubeloop: Call) -> None:
    result = kubeloop("crd", "generate", "-", stdin="{apiVersion: v1, kind: Pod}")

    assert result.exit_code == 2
    assert "no CustomResourceDefinition is in it" in result.stderr


def test_a_place_that_cannot_be_written_to_is_one_line(kubeloop: Call, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    result = kubeloop("crd", "generate", "-", "-o", "file/website.py", stdin=CRD)

    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: file/website.py: it cannot be written: ")
