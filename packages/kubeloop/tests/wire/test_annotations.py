"""The annotations of built-in models, resolved before the first decode."""

from __future__ import annotations

import subprocess
import sys
import typing

import pytest

from kubeloop.wire import Resource, class_for, resources
from kubeloop.wire.model import resolve_annotations

KINDS = sorted({(info.group, info.version, info.kind) for info in resources()})


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_resolved_annotations_are_those_that_typing_finds(kind: tuple[str, str, str]) -> None:
    found = class_for(*kind)
    assert found is not None
    before = typing.get_type_hints(found, include_extras=True)

    resolve_annotations(found)

    assert typing.get_type_hints(found, include_extras=True) == before


def test_annotations_of_your_own_classes_stay_as_they_are() -> None:
    class Website(Resource, group="example.com", version="v1", plural="websites"):
        replicas: int = 0

    resolve_annotations(Website)

    assert Website.__annotations__ == {"replicas": "int"}


@pytest.mark.timeout(60)
def test_a_first_decode_compiles_few_annotations() -> None:
    """msgspec would compile 1300 for a Pod, one by one: that took longer than the request."""
    program = (
        "import builtins, sys\n"
        "from kubeloop.wire.core.v1 import Pod\n"
        "compiled, compile_text = [], compile\n"
        "builtins.compile = lambda *a, **k: compiled.append(a[0]) or compile_text(*a, **k)\n"
        "Pod.from_json(b'{}')\n"
        "print(len(compiled))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert int(done.stdout) < 50
