"""Keyword arguments that are declared by a TypedDict, checked when a function is called.

`**options: Unpack[Options]` lets a type checker reject a misspelt keyword; Python accepts it.

Guarantees: a call that a type checker would reject for its keywords is a TypeError; a call
without keywords costs one comparison.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast, get_args, get_origin

__all__ = ["strict_keywords"]

F = TypeVar("F", bound=Callable[..., object])


def strict_keywords(function: F) -> F:
    """Reject keywords that neither the signature nor the TypedDict of its `**` names.

        @strict_keywords
        async def list(self, **options: Unpack[ListArguments]) -> ObjectList[T]: ...

    The TypedDict has to be a name of the function's module when it is called.
    Raises: TypeError, as Python does for a function without `**`.
    """
    known: frozenset[str] | None = None  # read at the first keyword: most are never needed

    def check(keywords: dict[str, Any]) -> None:
        nonlocal known
        if known is None:
            known = _keywords_of(function)
        for name in keywords:
            if name not in known:
                raise TypeError(
                    f"{_name_of(function)}() got an unexpected keyword argument {name!r}"
                )

    @functools.wraps(function)
    def check_and_call(*arguments: Any, **keywords: Any) -> object:
        if keywords:
            check(keywords)
        return function(*arguments, **keywords)

    @functools.wraps(function)
    async def check_and_await(*arguments: Any, **keywords: Any) -> object:
        if keywords:
            check(keywords)
        return await cast("Awaitable[object]", function(*arguments, **keywords))

    # A coroutine function stays one: some callers ask (`inspect.iscoroutinefunction`).
    return cast("F", check_and_await if inspect.iscoroutinefunction(function) else check_and_call)


def _keywords_of(function: Callable[..., object]) -> frozenset[str]:
    names: set[str] = set()
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            names |= _declared(parameter.annotation, inspect.unwrap(function))
        else:
            names.add(parameter.name)
    return frozenset(names)


def _declared(annotation: Any, function: Callable[..., object]) -> frozenset[str]:
    """The keys of `Unpack[Options]`, which may be text and have type arguments."""
    if isinstance(annotation, str):
        annotation = eval(annotation, function.__globals__)  # noqa: S307 - of our own source
    (options,) = get_args(annotation)
    declared = get_origin(options) or options
    return frozenset(declared.__required_keys__ | declared.__optional_keys__)


def _name_of(function: Callable[..., object]) -> str:
    """The name that a caller writes: that of the class for its constructor."""
    *_, owner, name = ("", *function.__qualname__.split("."))
    return owner if name == "__init__" else name
