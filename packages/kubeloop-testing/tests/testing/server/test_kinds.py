"""Each built-in kind has one module, which is found by its name."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from kubeloop.wire import resources
from kubeloop_testing.server import kinds
from kubeloop_testing.server.kinds.kind import Kind
from kubeloop_testing.server.kinds.registry import kind_of, module_of

FOLDER = Path(kinds.__path__[0])
# Reviews and bindings are evaluated, never stored.
STORED = sorted({(info.group, info.kind) for info in resources() if info.verbs != ("create",)})


def modules_with_a_kind() -> dict[str, Kind]:
    files = sorted(FOLDER.glob("*/*.py"))
    names = [".".join(path.relative_to(FOLDER).with_suffix("").parts) for path in files]
    modules = {name: import_module(f"{kinds.__name__}.{name}") for name in names}
    return {name: module.KIND for name, module in modules.items() if hasattr(module, "KIND")}


@pytest.mark.parametrize(("group", "kind"), STORED)
def test_a_stored_kind_has_a_module_of_its_name(group: str, kind: str) -> None:
    assert kind_of(group, kind) is modules_with_a_kind()[module_of(group, kind)]


def test_a_module_is_named_after_its_kind() -> None:
    assert all(
        module_of(known.group, known.kind) == name for name, known in modules_with_a_kind().items()
    )


def test_a_kind_that_is_not_stored_has_the_rules_of_all_kinds() -> None:
    review = kind_of("authorization.k8s.io", "SubjectAccessReview")

    assert (review.validate, review.defaults, review.cells) == (None, (), None)


def test_a_group_that_begins_like_one_of_kubernetes_has_not_its_rules() -> None:
    assert kind_of("apps.example.com", "Deployment").validate is None


def test_columns_and_cells_of_a_kind_come_together() -> None:
    assert all(
        bool(known.columns) == (known.cells is not None) for known in modules_with_a_kind().values()
    )
