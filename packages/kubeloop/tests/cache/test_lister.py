"""Listers: what is found, what is decoded, who owns it (CCH-90 to CCH-92)."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from kubeloop.cache import Lister, SharedInformer, UnknownIndex
from kubeloop.errors import DecodeError, InvalidArgument
from kubeloop.meta import ObjectKey
from kubeloop.selectors import NOTHING
from kubeloop.wire.core.v1 import Pod
from tests.support.model_server import ModelServer


class _Metadata(msgspec.Struct):
    name: str


class _Name(msgspec.Struct):
    metadata: _Metadata


@pytest.fixture
async def pods(server: ModelServer) -> AsyncIterator[SharedInformer[Pod]]:
    server.put("web", node="node-7", app="web", tier="front")
    server.put("api", node="node-8", app="web", tier="back")
    server.put("web", namespace="blog", node="node-7", app="blog")
    async with SharedInformer(server, Pod, index={"node": "spec.nodeName"}) as informer:
        yield informer


def names(found: list[Pod]) -> list[str]:
    return sorted(f"{pod.metadata.namespace}/{pod.metadata.name}" for pod in found)


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("", ["blog/web", "shop/api", "shop/web"]),
        ("app=web", ["shop/api", "shop/web"]),
        ("app=web,tier!=back", ["shop/web"]),
        ({"app": "blog"}, ["blog/web"]),
        (NOTHING, []),
    ],
)
async def test_a_list_has_the_objects_whose_labels_match(
    pods: SharedInformer[Pod], selector: Any, found: list[str]
) -> None:
    """CCH-90: by selector."""
    assert names(pods.lister.list(selector)) == found
    assert pods.lister.count(selector) == len(found)
    assert sorted(map(str, pods.lister.keys(selector))) == found


async def test_a_namespace_narrows_every_read(pods: SharedInformer[Pod]) -> None:
    """CCH-91: an empty one means all."""
    shop = pods.lister.in_namespace("shop")

    assert names(shop.list()) == ["shop/api", "shop/web"]
    assert names(shop.list(namespace="")) == ["blog/web", "shop/api", "shop/web"]
    assert names(pods.lister.list("app=web", namespace="blog")) == []
    assert names(shop.by_index("node", "node-7")) == ["shop/web"]
    assert shop.keys_by_index("node", "node-7") == [ObjectKey("shop", "web")]
    assert shop.count() == len(shop) == 2
    assert shop.get("api") is not None


async def test_an_unknown_name_is_none(pods: SharedInformer[Pod]) -> None:
    """CCH-92, CCH-C32: None where client-go has a NotFound error."""
    assert pods.lister.get("web") is None
    assert pods.lister.get("web", namespace="shop") is not None
    assert pods.lister.get(ObjectKey("blog", "web")) is not None
    assert ObjectKey("blog", "web") in pods.lister
    assert ObjectKey("blog", "api") not in pods.lister


async def test_a_selector_that_does_not_parse_is_the_callers_error(
    pods: SharedInformer[Pod],
) -> None:
    """CCH-C32: never "everything"."""
    with pytest.raises(InvalidArgument):
        pods.lister.list("app=(web")


async def test_every_read_returns_an_object_that_the_caller_owns(
    pods: SharedInformer[Pod],
) -> None:
    first = pods.lister.get("web", namespace="shop")
    assert first is not None
    first.metadata.labels = {"mine": "yes"}

    second = pods.lister.get("web", namespace="shop")

    assert second is not None
    assert second.metadata.labels == {"app": "web", "tier": "front"}


async def test_an_unknown_index_is_an_error_and_an_unknown_value_is_not(
    pods: SharedInformer[Pod],
) -> None:
    """CCH-12: as in client-go."""
    with pytest.raises(UnknownIndex):
        pods.lister.by_index("zone", "a")
    assert pods.lister.by_index("node", "node-9") == []
    assert sorted(pods.lister.index_values("node")) == ["node-7", "node-8"]


async def test_metadata_and_views_do_not_decode_whole_objects(
    pods: SharedInformer[Pod], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("decoded")

    monkeypatch.setattr(pods.indexer.codec, "decode", never)

    (entry,) = pods.lister.metadata("app=blog")
    (view,) = pods.lister.views(_Name, "app=blog")

    assert (entry.key, entry.labels, entry.uid) == (ObjectKey("blog", "web"), {"app": "blog"}, "u3")
    assert view.metadata.name == "web"


async def test_a_long_list_may_be_read_one_by_one(pods: SharedInformer[Pod]) -> None:
    found = [pod async for pod in pods.lister.each("app=web")]

    assert names(found) == ["shop/api", "shop/web"]


async def test_other_threads_may_read(pods: SharedInformer[Pod]) -> None:
    found: list[int] = []
    reader = threading.Thread(target=lambda: found.append(len(pods.lister.list())))

    reader.start()
    reader.join()

    assert found == [3]


async def test_a_lister_of_nothing_is_still_a_lister(server: ModelServer) -> None:
    async with SharedInformer(server, Pod) as empty:
        assert isinstance(empty.lister, Lister)
        assert empty.lister
        assert len(empty.lister) == 0


async def test_a_list_decodes_only_what_matches(server: ModelServer) -> None:
    """An object that cannot be decoded fails only the lists that contain it."""
    server.put("good", app="web")
    bad = {"name": "bad", "namespace": "shop", "resourceVersion": "12", "labels": {"app": "bad"}}
    async with SharedInformer(server, Pod, index={"app": "metadata.labels.app"}) as pods:
        server.say("ADDED", {"kind": "Pod", "apiVersion": "v1", "metadata": bad, "spec": 5})
        await pods.wait_for_version("12")

        assert names(pods.lister.list("app=web")) == ["shop/good"]
        assert names(pods.lister.list("app!=bad")) == ["shop/good"]
        assert pods.lister.count() == 2
        with pytest.raises(DecodeError, match="shop/bad"):
            pods.lister.list("app=bad")
