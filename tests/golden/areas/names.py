"""Names, label keys and values, annotations: which ones are valid."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from kubeloop.meta import (
    problems_of_annotations,
    problems_of_dns_1035_label,
    problems_of_dns_label,
    problems_of_dns_subdomain,
    problems_of_label_key,
    problems_of_label_value,
    problems_of_path_segment,
)
from tests.golden.case import Area, Case

_RULES: dict[str, Callable[[str], list[str]]] = {
    "dns1123Label": problems_of_dns_label,
    "dns1123Subdomain": problems_of_dns_subdomain,
    "dns1035Label": problems_of_dns_1035_label,
    "labelKey": problems_of_label_key,
    "labelValue": problems_of_label_value,
    "pathSegment": problems_of_path_segment,
    "dns1123LabelPrefix": lambda name: problems_of_dns_label(name, prefix=True),
    "dns1123SubdomainPrefix": lambda name: problems_of_dns_subdomain(name, prefix=True),
    "dns1035LabelPrefix": lambda name: problems_of_dns_1035_label(name, prefix=True),
}
_VALUES = [
    *("", "a", "A", "1", "-", ".", "_", "/", "%", "a-", "-a", "a.", ".a", "a_b", "a.b", "a..b"),
    *("a-b", "a--b", "a-.b", "a.-b", "a/b", "a/b/c", "/a", "a/", "..", "...", "a%b", "a b", " a"),
    *("a\n", "\n", "é", "\u212a", "a\u0000", "1a", "a1", "1-1", "A.B", "x.y/Z", "X.y/z", "x/y_"),
    *("a" * 63, "a" * 64, "a" * 253, "a" * 254, f"{'a.' * 126}a", f"{'a.' * 127}a", "é" * 32),
    *(
        "é" * 63,
        f"{'x' * 253}/a",
        f"{'x' * 254}/a",
        f"x/{'a' * 63}",
        f"x/{'a' * 64}",
        "a" * 62 + "-",
    ),
    *(
        "kubernetes.io/name",
        "example.com/my.name-1",
        "example.com/",
        "example_com/a",
        "--",
        "a~b",
        "A-",
        "_-",
        "é-",
        "a_-",
        "1-",
        "-1-",
        "a--",
    ),
]
# Key, a part of the value, and how often it is repeated.
_ANNOTATIONS: list[list[tuple[str, str, int]]] = [
    [],
    [("a", "b", 1)],
    [("A.B/c", "d", 1)],
    [("a b", "c", 1)],
    [("", "c", 1)],
    [("x/y/z", "", 0)],
    [("a", "\u0000é", 1)],
    [("a", "b", 256 * 1024 - 1)],
    [("a", "b", 256 * 1024)],
    [("a", "é", 128 * 1024 - 1)],
    [("a", "é", 128 * 1024)],
    [("a", "b", 128 * 1024), ("c", "d", 128 * 1024 - 2)],
    [("a", "b", 128 * 1024), ("c", "d", 128 * 1024 - 1)],
]


def _cases() -> Iterator[Case]:
    source = random.Random(5)
    alphabet = ["a", "b", "A", "1", "-", ".", "_", "/", "é", "%"]
    made = ["".join(source.choices(alphabet, k=source.randint(1, 6))) for _ in range(60)]
    for rule in _RULES:
        for value in [*_VALUES, *made]:
            yield Case("names.valid", {"rule": rule, "value": value})
    for parts in _ANNOTATIONS:
        yield Case("names.annotations", parts)


AREA = Area(
    _cases,
    {
        "names.valid": lambda given: not _RULES[given["rule"]](given["value"]),
        "names.annotations": lambda given: (
            not problems_of_annotations({key: text * count for key, text, count in given})
        ),
    },
)
