"""Which names, label keys, label values and annotations the API accepts.

Guarantees: `problems_of_…` lists every rule that a value breaks, in the facts that
kube-apiserver states (limits and regular expressions included), and an empty list means
accepted; `check_…` raises `InvalidArgument` with the same facts.
See also: what labels select (`labels`), what names identify (`identity`).
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from functools import partial

from kubeloop.wire.errors import InvalidArgument

__all__ = [
    "ANNOTATIONS_LIMIT",
    "check_annotations",
    "check_dns_1035_label",
    "check_dns_label",
    "check_dns_subdomain",
    "check_label_key",
    "check_label_value",
    "check_path_segment",
    "generate_name",
    "problems_of_annotations",
    "problems_of_dns_1035_label",
    "problems_of_dns_label",
    "problems_of_dns_subdomain",
    "problems_of_label_key",
    "problems_of_label_value",
    "problems_of_path_segment",
]

ANNOTATIONS_LIMIT = 256 * 1024  # bytes, keys and values of one object together

_LABEL_LENGTH = 63
_SUBDOMAIN_LENGTH = 253

_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_SUBDOMAIN = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"
_DNS_1035_LABEL = "[a-z]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = f"({_QUALIFIED})?"

# `re` compiles a pattern on its first use: a client rarely needs more than one of them.
_is_dns_label = partial(re.fullmatch, _DNS_LABEL)
_is_dns_subdomain = partial(re.fullmatch, _DNS_SUBDOMAIN)
_is_dns_1035_label = partial(re.fullmatch, _DNS_1035_LABEL)
_is_qualified = partial(re.fullmatch, _QUALIFIED)
_is_label_value = partial(re.fullmatch, _LABEL_VALUE)

# No vowels, so that no word appears by chance, and no digit that looks like a letter.
_SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_BASE_LENGTH = _LABEL_LENGTH - _SUFFIX_LENGTH


def problems_of_dns_label(value: str, *, prefix: bool = False) -> list[str]:
    """What keeps `value` from being a DNS-1123 label, the name of a namespace for instance.

    With `prefix` it is judged as the start of a name (generateName): a dash may end it.
    """
    problems = _too_long(value, _LABEL_LENGTH)
    if not _is_dns_label(_completed(value) if prefix else value):
        problems.append(
            "a lowercase RFC 1123 label is made of lower case letters, digits and '-', and starts "
            f"and ends with a letter or digit (as 'my-name' or '123-abc'; {_regex(_DNS_LABEL)})"
        )
    return problems


def problems_of_dns_subdomain(value: str, *, prefix: bool = False) -> list[str]:
    """What keeps `value` from being a DNS-1123 subdomain, the name of most objects.

    With `prefix` it is judged as the start of a name (generateName): a dash may end it.
    """
    problems = _too_long(value, _SUBDOMAIN_LENGTH)
    if not _is_dns_subdomain(_completed(value) if prefix else value):
        problems.append(
            "a lowercase RFC 1123 subdomain is made of lower case letters, digits, '-' and '.', "
            "and starts and ends with a letter or digit, as does each part between dots "
            f"(as 'example.com'; {_regex(_DNS_SUBDOMAIN)})"
        )
    return problems


def problems_of_dns_1035_label(value: str, *, prefix: bool = False) -> list[str]:
    """What keeps `value` from being a DNS-1035 label, the name of a service.

    With `prefix` it is judged as the start of a name (generateName): a dash may end it.
    """
    problems = _too_long(value, _LABEL_LENGTH)
    if not _is_dns_1035_label(_completed(value) if prefix else value):
        problems.append(
            "a DNS-1035 label is made of lower case letters, digits and '-', starts with a letter "
            "and ends with a letter or digit (as 'my-name' or 'abc-123'; "
            f"{_regex(_DNS_1035_LABEL)})"
        )
    return problems


def problems_of_label_key(value: str) -> list[str]:
    """What keeps `value` from being a qualified name: the key of a label or an annotation."""
    prefix, slash, name = value.rpartition("/")
    problems = _problems_of_key_prefix(prefix) if slash else []
    if not name:
        problems.append("name part must be non-empty")
    problems += [f"name part {problem}" for problem in _too_long(name, _LABEL_LENGTH)]
    if not _is_qualified(name):
        problems.append(f"name part {_qualified_rule(_QUALIFIED)}")
    return problems


def problems_of_label_value(value: str) -> list[str]:
    """What keeps `value` from being the value of a label."""
    problems = _too_long(value, _LABEL_LENGTH)
    if not _is_label_value(value):
        problems.append(f"a label value, unless it is empty, {_qualified_rule(_LABEL_VALUE)}")
    return problems


def problems_of_path_segment(value: str) -> list[str]:
    """What keeps `value` from standing between two slashes of a request's path."""
    if value in {".", ".."}:
        return [f"may not be '{value}'"]
    return [f"may not contain '{character}'" for character in "/%" if character in value]


def problems_of_annotations(annotations: Mapping[str, str]) -> list[str]:
    """What is wrong with the annotations of one object: each key, and the size of them all."""
    problems = [
        f"key {key!r}: {problem}"
        for key in annotations
        for problem in problems_of_label_key(key.lower())  # upper case prefixes are let through
    ]
    texts = [text for pair in annotations.items() for text in pair]
    if any(map(_half_a_pair, texts)):
        problems.append("must be valid Unicode, found half a surrogate pair")
    size = sum(len(text.encode(errors="surrogatepass")) for text in texts)
    if size > ANNOTATIONS_LIMIT:
        problems.append(f"must have at most {ANNOTATIONS_LIMIT} bytes together, has {size}")
    return problems


_half_a_pair = partial(re.search, r"[\ud800-\udfff]")


def check_dns_label(value: str) -> None:
    """Raises `InvalidArgument` unless `value` is a DNS-1123 label."""
    _refuse("name", value, problems_of_dns_label(value))


def check_dns_subdomain(value: str) -> None:
    """Raises `InvalidArgument` unless `value` is a DNS-1123 subdomain."""
    _refuse("name", value, problems_of_dns_subdomain(value))


def check_dns_1035_label(value: str) -> None:
    """Raises `InvalidArgument` unless `value` is a DNS-1035 label."""
    _refuse("name", value, problems_of_dns_1035_label(value))


def check_label_key(value: str) -> None:
    """Raises `InvalidArgument` unless `value` is the key of a label."""
    _refuse("label key", value, problems_of_label_key(value))


def check_label_value(value: str) -> None:
    """Raises `InvalidArgument` unless `value` is the value of a label."""
    _refuse("label value", value, problems_of_label_value(value))


def check_path_segment(value: str) -> None:
    """Raises `InvalidArgument` unless `value` can be one segment of a path."""
    _refuse("path segment", value, problems_of_path_segment(value))


def check_annotations(annotations: Mapping[str, str]) -> None:
    """Raises `InvalidArgument` unless one object may carry all of `annotations`."""
    problems = problems_of_annotations(annotations)
    if problems:
        raise InvalidArgument(f"annotations: {'; '.join(problems)}")


def generate_name(base: str, *, source: random.Random | None = None) -> str:
    """A name as the server makes it of generateName: `base`, cut to 58, and 5 random characters."""
    choose = (source or random).choices
    return base[:_BASE_LENGTH] + "".join(choose(_SUFFIX_ALPHABET, k=_SUFFIX_LENGTH))


def _problems_of_key_prefix(prefix: str) -> list[str]:
    if not prefix:
        return ["prefix part must be non-empty"]
    if "/" in prefix:
        return ["a qualified name has at most one '/', between a DNS subdomain and the name"]
    return [f"prefix part {problem}" for problem in problems_of_dns_subdomain(prefix)]


def _too_long(value: str, limit: int) -> list[str]:
    return [f"must be no more than {limit} characters"] if len(value) > limit else []


def _completed(prefix: str) -> str:
    """A generateName as the name it may become: what follows its last dash is not known yet.

    The API server replaces the dash and the byte before it; a dash alone stays one.
    """
    given = prefix.encode(errors="surrogatepass")
    if len(given) < 2 or not prefix.endswith("-"):
        return prefix
    return given[:-2].decode(errors="replace") + "a"


def _qualified_rule(regex: str) -> str:
    return (
        "must be made of letters, digits, '-', '_' and '.', and start and end with a letter or "
        f"digit (as 'MyName', 'my.name' or '123-abc'; {_regex(regex)})"
    )


def _regex(text: str) -> str:
    return f"regex used for validation is '{text}'"


def _refuse(what: str, value: str, problems: list[str]) -> None:
    if problems:
        raise InvalidArgument(f"{what} {value!r}: {'; '.join(problems)}")
