"""`kubeloop crd`: from CRDs to classes and back."""

from __future__ import annotations

from pathlib import Path

from .conftest import Call
from .test_apply import CRD

OTHER = CRD.replace("websites", "shops").replace("Website", "Shop")


def test_classes_generated_from_a_file_give_the_same_crd(kubeloop: Call, tmp_path: Path) -> None:
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
    assert "contains 2 CRDs" in refused.stderr
    assert written.stdout.splitlines() == ["kinds/website.py", "kinds/shop.py"]
    assert "class Shop(" in (tmp_path / "kinds" / "shop.py").read_text()


def test_a_kind_of_two_groups_is_two_modules(kubeloop: Call) -> None:
    other = CRD.replace("example.com", "example.org")

    written = kubeloop("crd", "generate", "-", "-o", "kinds/", stdin=f"{CRD}---{other}")

    assert written.stdout.splitlines() == [
        "kinds/website_example_com.py",
        "kinds/website_example_org.py",
    ]


def test_a_folder_is_a_folder_for_a_single_definition_too(kubeloop: Call) -> None:
    written = kubeloop("crd", "generate", "-", "-o", "kinds/", stdin=CRD)

    assert written.stdout == "kinds/website.py\n"


def test_a_module_has_a_name_that_can_be_imported(kubeloop: Call) -> None:
    keyword = CRD.replace("Website", "Class")

    written = kubeloop("crd", "generate", "-", "-o", "kinds/", stdin=keyword)

    assert written.stdout == "kinds/class_.py\n"


def test_a_module_that_ends_the_program_is_one_line(kubeloop: Call, tmp_path: Path) -> None:
    (tmp_path / "leaving_early.py").write_text("raise SystemExit(0)")

    result = kubeloop("crd", "show", "leaving_early:Website")

    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert "the module cannot be imported: SystemExit" in line


def test_an_unknown_version_is_an_error(kubeloop: Call) -> None:
    result = kubeloop("crd", "generate", "-", "--version", "v9", stdin=CRD)

    assert result.exit_code == 2
    assert "no version 'v9' (it has v1)" in result.stderr


def test_a_file_without_crds_is_an_error(kubeloop: Call) -> None:
    result = kubeloop("crd", "generate", "-", stdin="{apiVersion: v1, kind: Pod}")

    assert result.exit_code == 2
    assert "contains no CustomResourceDefinition" in result.stderr


def test_a_path_that_cannot_be_written_is_one_line(kubeloop: Call, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    result = kubeloop("crd", "generate", "-", "-o", "file/website.py", stdin=CRD)

    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: file/website.py: cannot be written: ")
