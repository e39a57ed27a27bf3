"""Keywords that a TypedDict declares."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any, Generic, TypedDict, TypeVar, Unpack

import pytest

from kubeloop.kit import strict_keywords

T = TypeVar("T")


class Options(TypedDict, total=False):
    limit: int


class MoreOptions(Options, Generic[T], total=False):
    items: list[T]


@strict_keywords
def plain(name: str, *, strict: bool = False, **options: Unpack[Options]) -> object:
    return name, strict, options


@strict_keywords
async def awaited(**options: Unpack[MoreOptions[str]]) -> object:
    return options


@strict_keywords
@contextmanager
def block(**options: Unpack[Options]) -> Any:
    yield options


class Widget:
    @strict_keywords
    def __init__(self, **options: Unpack[Options]) -> None:
        self.options = options


def test_declared_keywords_and_those_of_the_signature_are_passed_on() -> None:
    assert plain("a", strict=True, limit=3) == ("a", True, {"limit": 3})
    assert plain(name="a") == ("a", False, {})


async def test_a_coroutine_function_stays_one() -> None:
    assert inspect.iscoroutinefunction(awaited)
    assert await awaited(limit=1, items=["a"]) == {"limit": 1, "items": ["a"]}


@pytest.mark.parametrize(
    ("call", "name"), [(plain, "plain"), (awaited, "awaited"), (block, "block"), (Widget, "Widget")]
)
async def test_a_misspelt_keyword_is_an_error_of_the_call(
    call: Callable[..., Any], name: str
) -> None:
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument 'limti'"):
        await call(limti=1)


def test_the_function_keeps_its_name_and_docstring() -> None:
    assert (plain.__name__, Widget.__init__.__qualname__) == ("plain", "Widget.__init__")
