"""`kubeloop describe`: layouts, events, and what it never prints.

See also: tests/peers, which compare it with kubectl.
"""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.blocking import Client
from kubeloop.wire.core.v1 import Event, ObjectReference, Secret
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_cli.describe.generic import field_title
from kubeloop_cli.describe.page import Page, local_time, selector_text
from kubeloop_testing import APIServer, StatusError

from .conftest import Call


def page_text(*lines: tuple[Any, ...]) -> str:
    page = Page()
    for level, *cells in lines:
        page.add(level, *cells)
    return page.text()


# --- layout


def test_a_column_ends_where_a_line_has_no_cell_in_it() -> None:
    text = page_text((0, "Name:", "web"), (0, "Namespace:", "shop"), (0, "IPs:"), (1, "IP:", "1"))

    assert text == "Name:       web\nNamespace:  shop\nIPs:\n  IP:  1\n"


def test_an_inner_column_is_as_wide_as_its_own_block() -> None:
    text = page_text((0, "a", "bbbb", "c"), (0, "a", "b"), (0, "a", "b", "c"))

    assert text == "a  bbbb  c\na  b\na  b  c\n"


@given(st.lists(st.lists(st.text("abc", max_size=4), min_size=1, max_size=4), max_size=8))
def test_every_cell_is_printed_and_cells_do_not_touch(lines: list[list[str]]) -> None:
    text = page_text(*((0, *cells) for cells in lines))

    assert len(text.splitlines()) == len(lines)
    for cells, line in zip(lines, text.splitlines(), strict=True):
        assert line.split() == [cell for cell in cells if cell]
        assert line.endswith(cells[-1])


def test_text_of_the_server_cannot_break_a_line() -> None:
    assert page_text((0, "Name:", "a\nError: \x1b[2J")) == "Name:  a\\nError: \\x1b[2J\n"


@pytest.mark.parametrize(
    ("field", "title"),
    [
        ("creationTimestamp", "Creation Timestamp"),
        ("uid", "UID"),
        ("apiVersion", "API Version"),
        ("clusterIPs", "Cluster I Ps"),
        ("podCIDRs", "Pod CIDRs"),
        ("nonResourceURLs", "Non Resource URLs"),
        ("openAPIV3Schema", "openAPIV3Schema"),
        ("f:metadata", "f:metadata"),
        ("x-y", "X - Y"),
    ],
)
def test_names_of_fields_are_words(field: str, title: str) -> None:
    assert field_title(field) == title


def test_a_time_does_not_depend_on_the_locale() -> None:
    shown = local_time("2026-11-18T03:47:55Z", zone=lambda moment: moment)

    assert shown == "Wed, 18 Nov 2026 03:47:55 +0000"
    assert local_time(None) == "<unset>"


def test_a_selector_is_written_as_on_the_command_line() -> None:
    expressions = [
        {"key": "b", "operator": "In", "values": ["y", "x"]},
        {"key": "c", "operator": "DoesNotExist"},
        {"key": "d", "operator": "Exists"},
    ]

    text = selector_text({"matchLabels": {"a": "1"}, "matchExpressions": expressions})

    assert text == "a=1,b in (x,y),!c,d"
    assert selector_text(None) == "<none>"


# --- the command


def test_a_pod_is_described_with_its_containers(kubeloop: Call) -> None:
    text = kubeloop("describe", "pod", "web-1", "-n", "shop").stdout

    assert text.startswith("Name:         web-1\nNamespace:    shop\n")
    assert "\nContainers:\n  web:\n    Image:        nginx:1.28\n" in text
    assert text.splitlines()[-1].split() == ["Events:", "<none>"]


def test_events_of_the_object_are_in_the_description(
    kubeloop: Call, kube_blocking_client: Client
) -> None:
    events = kube_blocking_client.core_v1.events("shop")
    pod = kube_blocking_client.core_v1.pods("shop").get("web-1")
    events.create(
        Event(
            metadata=ObjectMeta(name="web-1.1"),
            involved_object=ObjectReference(
                kind="Pod", name="web-1", namespace="shop", uid=str(pod.metadata.uid)
            ),
            reason="Pulled",
            message="image is there\n",
            type="Normal",
        )
    )

    described = kubeloop("describe", "pod", "web-1", "-n", "shop").stdout.splitlines()
    without = kubeloop("describe", "pod", "web-1", "-n", "shop", "--show-events=false").stdout
    several = kubeloop("describe", "pods", "-n", "shop").stdout

    assert described[-4] == "Events:"
    assert described[-3].split() == ["Type", "Reason", "Age", "From", "Message"]
    assert described[-1].split() == ["Normal", "Pulled", "<unknown>", "image", "is", "there"]
    assert "Events:" not in without
    assert "Events:" not in several


def test_a_value_of_a_secret_is_never_printed(kubeloop: Call, kube_blocking_client: Client) -> None:
    value = base64.b64encode(b"s3cret").decode()
    kube_blocking_client.core_v1.secrets("shop").create(
        Secret.from_dict(
            {
                "metadata": {
                    "name": "token",
                    "annotations": {"kubernetes.io/service-account.name": "robot"},
                },
                "type": "kubernetes.io/service-account-token",
                "data": {"token": value},
            }
        )
    )

    result = kubeloop("describe", "secret", "token", "-n", "shop")

    assert "token:  6 bytes" in result.stdout
    assert "s3cret" not in result.output
    assert value not in result.output


def test_the_beginning_of_a_name_is_enough(kubeloop: Call) -> None:
    result = kubeloop("describe", "pod", "web", "-n", "shop")

    assert result.exit_code == 0
    assert [line.split()[1] for line in result.stdout.splitlines() if line.startswith("Name:")] == [
        "web-1",
        "web-2",
    ]


def test_a_name_that_matches_nothing_is_an_error(kubeloop: Call) -> None:
    result = kubeloop("describe", "pod", "gone", "-n", "shop")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == 'error: GET pods/gone in shop: 404 NotFound: pods "gone" not found\n'


def test_objects_are_separated_by_two_blank_lines(kubeloop: Call) -> None:
    text = kubeloop("describe", "deploy,ns", "-n", "shop").stdout

    assert "\n\n\nName:         default\n" in text


def test_what_belongs_to_an_object_may_be_forbidden(kubeloop: Call, kube_server: APIServer) -> None:
    def forbid(path: str) -> None:
        if path.endswith("/replicasets"):
            raise StatusError({"kind": "Status", "code": 403, "reason": "Forbidden"})

    kube_server.faults.reactors.append(lambda seen: forbid(seen.path))

    result = kubeloop("describe", "deploy", "web", "-n", "shop")

    assert result.exit_code == 0
    assert "NewReplicaSet" not in result.stdout


@pytest.mark.parametrize("arguments", [[], ["pods", "-f", "x"], ["pods", "web-1", "-l", "app=web"]])
def test_arguments_that_do_not_fit_are_usage_errors(kubeloop: Call, arguments: list[str]) -> None:
    assert kubeloop("describe", *arguments).exit_code == 2


def test_nothing_found_is_no_error(kubeloop: Call) -> None:
    result = kubeloop("describe", "pods")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "No resources found in default namespace.\n"
