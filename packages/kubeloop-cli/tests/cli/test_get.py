"""`kubeloop get` prints what kubectl prints."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from kubeloop.blocking import Client
from kubeloop.clients import Table, TableColumn, TableRow
from kubeloop.wire import load_yaml
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_cli.tables import text_table
from tests.support.kubectl import kubectl_program

from .conftest import SHOP, Call

__all__ = ["kubectl_program"]  # a fixture


def ageless(text: str) -> list[str]:
    """Lines without ages, which differ between two calls, and their padding."""
    return [re.sub(r"\b\d+s +", "<age>   ", line + " ").rstrip() for line in text.splitlines()]


@pytest.mark.parametrize(
    "kind",
    ["deploy", "deployment", "deployments", "Deployment", "deploy.apps", "deployments.v1.apps"],
)
def test_a_kind_has_all_the_names_that_kubectl_accepts(kubeloop: Call, kind: str) -> None:
    result = kubeloop("get", kind, "-n", "shop", "-o", "name")

    assert (result.exit_code, result.stdout) == (0, "deployment.apps/web\n")


def test_a_table_has_the_columns_of_the_server(kubeloop: Call) -> None:
    header, row, _ = kubeloop("get", "pods", "-n", "shop").stdout.splitlines()

    assert header.split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert row.split()[:4] == ["web-1", "0/1", "Pending", "0"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "arguments",
    [
        ["pods", "-n", "shop"],
        ["pods", "web-1", "web-2", "-n", "shop", "-o", "wide"],
        ["all", "-A"],
        ["svc,ns", "-A", "-o", "wide"],
        ["ns", "shop", "-o", "jsonpath={.metadata.name}"],
        ["pods", "-n", "shop", "-o", "name"],
    ],
)
def test_what_is_printed_is_what_kubectl_prints(
    kubeloop: Call, kubectl_program: str, kubeconfig_file: Path, arguments: list[str]
) -> None:
    real = subprocess.run(
        [
            *(kubectl_program, f"--kubeconfig={kubeconfig_file}"),
            *(f"--cache-dir={kubeconfig_file.parent}", "get", *arguments),
        ],
        capture_output=True,
        text=True,
        check=True,
    )

    ours = kubeloop("get", *arguments).stdout

    assert ageless(ours) == ageless(real.stdout)


def test_all_namespaces_adds_a_namespace_column(kubeloop: Call) -> None:
    header, row, *_ = kubeloop("get", "pods", "-A").stdout.splitlines()

    assert header.startswith("NAMESPACE   NAME ")
    assert row.startswith("shop        web-1 ")


def test_several_kinds_are_several_tables_with_the_kind_in_each_name(kubeloop: Call) -> None:
    pods, deployments = kubeloop("get", "po,deploy", "-n", "shop").stdout.split("\n\n")

    assert "pod/web-1 " in pods
    assert "deployment.apps/web " in deployments


def test_a_category_is_all_kinds_in_it_that_have_objects(kubeloop: Call) -> None:
    names = kubeloop("get", "all", "-n", "shop", "-o", "name").stdout.splitlines()

    assert names == ["pod/web-1", "pod/web-2", "deployment.apps/web"]


def test_objects_can_be_named_with_their_kinds(kubeloop: Call) -> None:
    several = kubeloop("get", "pod/web-1", "deploy/web", "-n", "shop", "-o", "name").stdout
    of_one_kind = kubeloop("get", "pod/web-1", "pod/web-2", "-n", "shop").stdout

    assert several.splitlines() == ["pod/web-1", "deployment.apps/web"]
    assert [line.split()[0] for line in of_one_kind.splitlines()] == ["NAME", "web-1", "web-2"]


def test_selectors_go_to_the_server(kubeloop: Call) -> None:
    none = kubeloop("get", "pods", "-n", "shop", "-l", "app!=web")
    one = kubeloop("get", "pods", "-A", "--field-selector", "metadata.name=web-2", "-o", "name")

    assert (none.exit_code, none.stdout) == (0, "")
    assert none.stderr == "No resources found in shop namespace.\n"
    assert one.stdout == "pod/web-2\n"


def test_one_object_is_printed_alone_and_several_in_a_list(kubeloop: Call) -> None:
    alone = json.loads(kubeloop("get", "pod", "web-1", "-n", "shop", "-o", "json").stdout)
    several = json.loads(kubeloop("get", "pods", "-n", "shop", "-o", "json").stdout)

    assert (alone["kind"], alone["metadata"]["name"]) == ("Pod", "web-1")
    assert several["kind"] == "List"
    assert [each["metadata"]["name"] for each in several["items"]] == ["web-1", "web-2"]


def test_yaml_can_be_parsed_and_has_no_managed_fields_by_default(kubeloop: Call) -> None:
    arguments = ("get", "deploy", "web", "-n", "shop", "-o", "yaml")

    (found,) = load_yaml(kubeloop(*arguments).stdout)

    assert getattr(found, "kind", "") == "Deployment"
    assert "managedFields" not in kubeloop(*arguments).stdout
    assert "managedFields" in kubeloop(*arguments, "--show-managed-fields").stdout


def test_a_template_is_printed_without_an_added_newline(kubeloop: Call) -> None:
    names = kubeloop("get", "po", "-n", "shop", "-o", "jsonpath={.items[*].metadata.name}")
    lines = kubeloop(
        "get", "po", "-n", "shop", "-o",
        'jsonpath={range .items[*]}{.metadata.name}{"\\n"}{end}',
    )  # fmt: skip

    assert names.stdout == "web-1 web-2"
    assert lines.stdout == "web-1\nweb-2\n"


def test_a_template_can_be_in_a_file(kubeloop: Call, tmp_path: Path) -> None:
    (tmp_path / "template").write_text("{.items[*].metadata.name}")

    result = kubeloop("get", "po", "-n", "shop", "-o", "jsonpath-file=template")

    assert result.stdout == "web-1 web-2"


def test_what_can_be_read_is_printed_before_the_errors(kubeloop: Call) -> None:
    result = kubeloop("get", "pods", "gone", "web-1", "-n", "shop", "--no-headers")

    assert result.exit_code == 1
    assert result.stdout.startswith("web-1 ")
    assert result.stderr.splitlines() == [
        'error: GET pods/gone in shop: 404 NotFound: pods "gone" not found'
    ]


def test_an_object_that_does_not_exist_can_be_ignored(kubeloop: Call) -> None:
    table = kubeloop("get", "pods", "gone", "-n", "shop", "--ignore-not-found")
    tree = kubeloop("get", "pods", "gone", "-n", "shop", "--ignore-not-found", "-o", "json")

    assert (table.exit_code, table.output) == (0, "")
    assert (tree.exit_code, tree.output) == (0, "")


def test_the_objects_of_manifests_are_read(kubeloop: Call) -> None:
    result = kubeloop("get", "-f", str(SHOP), "-o", "name")

    assert result.stdout.splitlines() == [
        "namespace/shop", "deployment.apps/web", "pod/web-1", "pod/web-2"
    ]  # fmt: skip


def test_manifests_in_folders_of_a_folder_are_read_if_asked(kubeloop: Call, tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "ns.yaml").write_text(
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
    )

    assert kubeloop("get", "-f", "a", "-R", "-o", "name").stdout == "namespace/shop\n"


def test_a_path_of_the_server_can_be_read(kubeloop: Call) -> None:
    result = kubeloop("get", "--raw", "/readyz")

    assert (result.exit_code, result.stdout) == (0, "ok")
    assert kubeloop("get", "pods", "--raw", "/readyz").exit_code == 2
    assert kubeloop("get", "--raw", "/nothing").exit_code == 1


def test_a_subresource_is_read_by_name(kubeloop: Call) -> None:
    scale = kubeloop("get", "deploy", "web", "-n", "shop", "--subresource", "scale", "-o", "json")

    assert json.loads(scale.stdout)["kind"] == "Scale"
    assert kubeloop("get", "deploy", "-n", "shop", "--subresource", "scale").exit_code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["pods", "--output-watch-events"],
        ["pods", "-f", "x.yaml"],
        ["pods", "-o", "custom-columns=NAME"],
        ["pods", "--sort-by", "{.a}{.b}"],
    ],
)
def test_flags_that_do_not_fit_are_an_error_in_one_line(
    kubeloop: Call, arguments: list[str]
) -> None:
    result = kubeloop("get", *arguments, "-n", "shop")

    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.timeout(60)
def test_a_collection_of_several_pages_is_printed_completely(
    kubeloop: Call, kube_blocking_client: Client
) -> None:
    maps = kube_blocking_client.core_v1.config_maps("shop")
    for number in range(502):
        maps.create(ConfigMap(metadata=ObjectMeta(name=f"map-{number:03}")))

    table = kubeloop("get", "cm", "-n", "shop").stdout.splitlines()

    assert [line.split()[0] for line in table[1:]] == [f"map-{each:03}" for each in range(502)]


# --- cells


def test_a_cell_cannot_move_the_cursor_or_break_a_line() -> None:
    columns = (TableColumn("Name", format="name"), TableColumn("Message"))
    row = TableRow(["web", "\x1b[2Jgone\nsecond line"])

    shown = text_table(Table(columns, (row,)))

    assert shown.rows == (("web", "\\x1b[2Jgone..."),)


def test_missing_and_non_text_cells_are_printed_as_in_kubectl() -> None:
    columns = tuple(TableColumn(name) for name in ("a", "b", "c", "d"))

    shown = text_table(Table(columns, (TableRow([None, True, 3]),)))

    assert shown.rows == (("<none>", "true", "3", ""),)
