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


def _example(regex: str, *examples: str) -> str:
    # The spaces are kube-apiserver's: its sentences are part of the API.
    listed = ",  or ".join(f"'{each}'" for each in examples)
    return f"(e.g. {listed}, regex used for validation is '{regex}')"


_CHARACTERS = (
    "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character"
)
_QUALIFIED_RULE = (
    f"must consist of {_CHARACTERS} {_example(_QUALIFIED, 'MyName', 'my.name', '123-abc')}"
)

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
    problems = _too_long(value, _LABEL_LENGTH, "characters")
    if not _is_dns_label(_completed(value) if prefix else value):
        if _is_dns_subdomain(_completed(value) if prefix else value):
            return [*problems, "must not contain dots"]
        problems.append(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
            "and must start and end with an alphanumeric character "
            f"{_example(_DNS_LABEL, 'my-name', '123-abc')}"
        )
    return problems


def problems_of_dns_subdomain(value: str, *, prefix: bool = False) -> list[str]:
    """What keeps `value` from being a DNS-1123 subdomain, the name of most objects.

    With `prefix` it is judged as the start of a name (generateName): a dash may end it.
    """
    return _problems_of_subdomain(_completed(value) if prefix else value, "characters")


def _problems_of_subdomain(value: str, unit: str) -> list[str]:
    problems = _too_long(value, _SUBDOMAIN_LENGTH, unit)
    if not _is_dns_subdomain(value):
        problems.append(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
            "'-' or '.', and must start and end with an alphanumeric character "
            f"{_example(_DNS_SUBDOMAIN, 'example.com')}"
        )
    return problems


def problems_of_dns_1035_label(value: str, *, prefix: bool = False) -> list[str]:
    """What keeps `value` from being a DNS-1035 label, the name of a service.

    With `prefix` it is judged as the start of a name (generateName): a dash may end it.
    """
    problems = _too_long(value, _LABEL_LENGTH, "characters")
    if not _is_dns_1035_label(_completed(value) if prefix else value):
        problems.append(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start "
            "with an alphabetic character, and end with an alphanumeric character "
            f"{_example(_DNS_1035_LABEL, 'my-name', 'abc-123')}"
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
        problems.append(f"name part {_QUALIFIED_RULE}")
    return problems


def problems_of_label_value(value: str) -> list[str]:
    """What keeps `value` from being the value of a label."""
    problems = _too_long(value, _LABEL_LENGTH)
    if not _is_label_value(value):
        problems.append(
            f"a valid label must be an empty string or consist of {_CHARACTERS} "
            f"{_example(_LABEL_VALUE, 'MyValue', 'my_value', '12345')}"
        )
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
        prefixed = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {_QUALIFIED_RULE} {prefixed}"]
    return [f"prefix part {problem}" for problem in _problems_of_subdomain(prefix, "bytes")]


def _too_long(value: str, limit: int, unit: str = "bytes") -> list[str]:
    size = len(value.encode(errors="surrogatepass"))
    return [f"must be no more than {limit} {unit}"] if size > limit else []


def _completed(prefix: str) -> str:
    """A generateName as the name it may become: what follows its last dash is not known yet.

    The API server replaces the dash and the byte before it; a dash alone stays one.
    """
    given = prefix.encode(errors="surrogatepass")
    if len(given) < 2 or not prefix.endswith("-"):
        return prefix
    return given[:-2].decode(errors="replace") + "a"


def _refuse(what: str, value: str, problems: list[str]) -> None:
    if problems:
        raise InvalidArgument(f"{what} {value!r}: {'; '.join(problems)}")
