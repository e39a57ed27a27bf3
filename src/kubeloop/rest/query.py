"""What stands behind the question mark: options as parameters, parameters as text.

Promises: pure; keys are sorted, values of one key keep their order; what is not set is
not sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote_plus

from kubeloop.errors import InvalidArgument

__all__ = ["Params", "encode_query", "pairs_of", "query_options"]

# Texts, numbers, truth values, None, and lists of them; what else comes is refused.
Params = Mapping[str, object] | Iterable[tuple[str, object]]

# Go keeps these as pointers: zero and false are values, and only None is "not set".
_ZERO_IS_A_VALUE = frozenset(
    {
        "timeout_seconds",
        "since_seconds",
        "tail_lines",
        "limit_bytes",
        "grace_period_seconds",
        "send_initial_events",
        "orphan_dependents",
        "force",
        "ignore_store_read_error_with_cluster_breaking_potential",
    }
)


def query_options(**options: object) -> dict[str, str | list[str]]:
    """The options of a request as parameters: `label_selector=` becomes `labelSelector`.

    None, "", 0 and False are left out, except where zero means something:
    `timeout_seconds=0` is sent.
    """
    sent: dict[str, str | list[str]] = {}
    for name, value in options.items():
        if value is None or (not value and name not in _ZERO_IS_A_VALUE):
            continue
        if isinstance(value, list | tuple):
            sent[_camel(name)] = [_text(name, each) for each in value]
        else:
            sent[_camel(name)] = _text(name, value)
    return sent


def pairs_of(params: Params | None) -> tuple[tuple[str, str], ...]:
    """Parameters as pairs of texts, in the order given; None is left out."""
    if not params:
        return ()
    given = params.items() if isinstance(params, Mapping) else params
    pairs: list[tuple[str, str]] = []
    for key, value in given:
        if isinstance(value, str):
            pairs.append((key, value))
        elif isinstance(value, list | tuple):
            pairs.extend((key, _text(key, each)) for each in value if each is not None)
        elif value is not None:
            pairs.append((key, _text(key, value)))
    return tuple(pairs)


def encode_query(pairs: Iterable[tuple[str, str]]) -> str:
    """Pairs as they stand in a URL, sorted by key. Raises: InvalidArgument."""
    ordered = sorted(pairs, key=_key)
    try:
        return "&".join([f"{quote_plus(key)}={quote_plus(value)}" for key, value in ordered])
    except UnicodeEncodeError as error:
        raise InvalidArgument(
            f"a parameter, {error.object!r}, is not UTF-8 (write it anew)"
        ) from error


def _key(pair: tuple[str, str]) -> str:
    return pair[0]


def _text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise InvalidArgument(
        f"parameter {name}: a {type(value).__name__} cannot stand in a URL"
        " (give a text, a number or a truth value)"
    )


def _camel(name: str) -> str:
    first, *others = name.rstrip("_").split("_")
    return first + "".join(map(str.capitalize, others))
