"""JSON patches (RFC 6902), as applied by the library of kube-apiserver."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from kubeloop.patches import apply_json_patch
from tests.golden.case import Area, Case

_DOCUMENTS: list[Any] = [
    {},
    {"a": 1},
    {"a": None},
    {"a": {"b": 1}},
    {"a": [1, 2, 3]},
    {"a": [], "b": {"c": "d"}},
    {"a/b": 1, "m~n": 2, "": 3},
]
_PATHS = [
    *(
        "",
        "/",
        "/a",
        "/b",
        "/a/b",
        "/a/0",
        "/a/1",
        "/a/3",
        "/a/4",
        "/a/-",
        "/a/-1",
        "/a/-4",
        "/a/01",
    ),
    *("/b/c", "/x/y", "a", "/a~1b", "/m~0n", "/m~n", "/a/+1", "/a/1e0"),
]
_MORE: list[list[Any]] = [
    [],
    [{"op": "move", "from": "/a", "path": "/b"}],
    [{"op": "move", "from": "/a", "path": "/a"}],
    [{"op": "move", "from": "/a", "path": "/a/b"}],
    [{"op": "move", "from": "/x", "path": "/b"}],
    [{"op": "move", "from": "/a/0", "path": "/a/2"}],
    [{"op": "move", "from": "/a/2", "path": "/a/0"}],
    [{"op": "copy", "from": "/a", "path": "/b"}],
    [{"op": "copy", "from": "/x", "path": "/b"}],
    [{"op": "copy", "from": "/a/0", "path": "/a/-"}],
    [{"op": "copy", "from": "/a", "path": "/a/b"}],
    [{"op": "test", "path": "/a", "value": 1}, {"op": "remove", "path": "/a"}],
    [{"op": "test", "path": "/a", "value": 1.0}],
    [{"op": "test", "path": "/a", "value": "1"}],
    [{"op": "test", "path": "/a"}],
    [{"op": "test", "path": "/x"}],
    [{"op": "test", "path": "/x", "value": None}],
    [{"op": "test", "path": "/a", "value": None}],
    [{"op": "test", "path": "/a", "value": [1, 2, 3]}],
    [{"op": "test", "path": "/a", "value": {"b": 1}}],
    [{"op": "test", "path": "", "value": {"a": 1}}],
    [{"op": "add", "path": "/a"}],
    [{"op": "add", "path": "/a/-"}],
    [{"op": "replace", "path": "/a"}],
    [{"op": "nonsense", "path": "/a"}],
    [{"path": "/a", "value": 1}],
    [{"op": "add", "value": 1}],
    [{"op": "move", "path": "/a"}],
    [{"op": "remove", "path": "/a"}, {"op": "remove", "path": "/a"}],
    [{"op": "add", "path": "/n", "value": {}}, {"op": "add", "path": "/n/m", "value": 1}],
    [{"op": "add", "path": "/a", "value": 1, "extra": True}],
]


def _cases() -> Iterator[Case]:
    for document, path in itertools.product(_DOCUMENTS, _PATHS):
        for operation in (
            {"op": "add", "path": path, "value": 9},
            {"op": "remove", "path": path},
            {"op": "replace", "path": path, "value": 9},
            {"op": "test", "path": path, "value": 1},
            {"op": "test", "path": path, "value": None},
        ):
            yield Case("jsonPatch.apply", {"original": document, "patch": [operation]})
    for document, patch in itertools.product(_DOCUMENTS, _MORE):
        yield Case("jsonPatch.apply", {"original": document, "patch": patch})


AREA = Area(
    _cases,
    {"jsonPatch.apply": lambda given: apply_json_patch(given["original"], given["patch"])},
)
