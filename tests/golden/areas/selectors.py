"""Label and field selectors: syntax, canonical text, matching."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

from kubeloop.selectors import (
    FieldSelector,
    Selector,
    escape_field_value,
    parse_fields,
    parse_labels,
    selector_from_map,
    selector_from_wire,
    unescape_field_value,
)
from tests.golden.case import Area, Case

_LABEL_TEXTS = """\
|  |\t|,|a|a,|,a|a,,b|!a|! a|!!a|!a,!b|a=|a=,b=|a= ,b|=a|==a|!=a|a==b|a===b|a=!b|a!=b|a!=|a! =b
a =b|a= b|a = b|a\\n=b|a=b=c|a=b,a=c|a in (b)|a in (b,c)|a in (c,b,b)|a in ()|a in (,)|a in (,,)|a in (b,)
a in (,b)|a in b|a in (b|a in b)|a in((b))|a in (b c)|a in (b,,c)|a notin (b)|a notin ()|a notin (b,c),d
in in (in)|notin notin (notin)|in|notin|in=notin|a=in|a=notin|a in (in,notin)|!in|exists|a exists|!a=b|!a in (b)
a>1|a<1|a>|a<|a>b|a>-1|a>+1|a>1.5|a>0x1|a>01|a>9223372036854775807|a>9223372036854775808|a>1,a<3|a>=1|a<>1|a > 1
x/y=z|x.y/z|/a|a/|a/b/c|x/-a|x/a-|X/y|x_y/z|-a|a-|a.|.a|_a|a_b|a-b|a.b|A|1|a=A|a=-|a=.|a=b.|a=b-|a=1|a=a_b
a=b c|a b|a=(b)|(a)|a=b)|a=b,(c)|é|a=é|a=\u00a0b|a\u2003=b|a=b\u0000|a~b|a=*|*|a,b,c|c,b,a|c=1,a=2,b=3|a,!a|a=b,a!=b
a in (b)and c|a;b|a&b|"a"|a="b"|a='b'|a=b,\\n c=d|a   in   ( b ,  c )|a notin(b)|a in(b)|a in (b),|a in (b) c|a=b,c in (d,e),!f,g
kubernetes.io/hostname=node-1|app.kubernetes.io/name in (web,api),!canary|tier!=,env|env=|env in (prod,)|env notin (,)"""

_VALUES: list[dict[str, str]] = [
    {},
    {"a": ""},
    {"a": "b"},
    {"a": "c"},
    {"b": "a"},
    {"a": "1"},
    {"a": "2"},
    {"a": "-1"},
    {"a": "+2"},
    {"a": "01"},
    {"a": "1.5"},
    {"a": "9223372036854775807"},
    {"a": "99999999999999999999"},
    {"a": "b", "c": "d"},
    {"a": "B"},
]
_MATCHING = [
    *("", "a", "!a", "a=b", "a==b", "a!=b", "a=", "a!=", "a in (b)", "a in (b,c)", "a in (,b)"),
    *("a notin (b)", "a notin (,)", "a>1", "a<2", "a>0,a<2", "a=b,c=d", "a,c", "a,!c", "a=b,a=c"),
    *("a>9223372036854775806", "a<-0", "a>-2"),
]
_FIELD_TEXTS = """\
|a|a=b|a==b|a!=b|a=|a!=|=b|==|!=|a=b,c=d|a=b,|,a=b|,|a=b,,c=d|a = b| a=b |a=b c|a=b=c|a==b==c|a!=b!=c|a=b!=c
a=\\,|a=\\=|a=\\\\|a=\\x|a=\\|a\\=b|a=b\\,c|a=b\\,c=d|a=b\\=c|a\\,b=c|metadata.name=web|metadata.name!=web,spec.nodeName=n1
spec.x in (a)|!a|a>1|é=ü|a=b\\\\,c=d|a=\\\\\\,b|status.phase!=Running,status.phase!=Pending|c=1,a=2|a.b.c=|a===b|a=!b|a!b"""


def _texts(block: str) -> list[str]:
    lines = block.replace("\n", "|").split("|")
    return list(dict.fromkeys(each.replace("\\n", "\n") for each in lines))


def _random_texts(alphabet: list[str], count: int) -> list[str]:
    source = random.Random(12)
    made = ("".join(source.choices(alphabet, k=source.randint(1, 9))) for _ in range(count))
    return list(dict.fromkeys(made))


_OBJECTS: list[Any] = [
    None,
    {},
    {"matchLabels": {}},
    {"matchLabels": {"a": "b"}},
    {"matchLabels": {"b": "2", "a": "1"}},
    {"matchLabels": {"a": ""}},
    {"matchLabels": {"a b": "c"}},
    {"matchLabels": {"a": "c d"}},
    {"matchExpressions": []},
    *(
        {"matchExpressions": [{"key": key, "operator": operator, "values": values}]}
        for key in ("a", "", "-a", "x/y")
        for operator in ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "in", "")
        for values in ([], ["b"], ["c", "b"], [""], ["b c"])
    ),
    {
        "matchLabels": {"a": "b"},
        "matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "c"]}],
    },
    {
        "matchLabels": {"z": "1"},
        "matchExpressions": [
            {"key": "m", "operator": "Exists"},
            {"key": "a", "operator": "DoesNotExist"},
        ],
    },
]


def _cases() -> Iterator[Case]:
    alphabet = ["a", "b", "in", "notin", "=", "==", "!=", "!", "(", ")", ",", " ", "<", ">", "1"]
    texts = dict.fromkeys([*_texts(_LABEL_TEXTS), *_random_texts(alphabet, 400)])
    for text in [*texts, f"a={'b' * 63}", f"a={'b' * 64}", f"{'a' * 63}", f"{'a' * 64}"]:
        yield Case("labels.parse", text)
    for selector, values in itertools.product(_MATCHING, _VALUES):
        yield Case("labels.matches", {"selector": selector, "values": values})
    for selector, key in itertools.product(_MATCHING, ("a", "c")):
        yield Case("labels.exact", {"selector": selector, "key": key})
    for values in [*_VALUES, {"a b": ""}, {"": "a"}, {"a": "b c"}, {"b": "1", "a": "2"}]:
        yield Case("labels.fromMap", values)
    for given in _OBJECTS:
        yield Case("labels.fromObject", given)
    field_alphabet = ["a", "b", "=", "==", "!=", "!", ",", "\\", "\\,", "\\=", " ", "."]
    field_texts = dict.fromkeys([*_texts(_FIELD_TEXTS), *_random_texts(field_alphabet, 250)])
    for text in field_texts:
        yield Case("fields.parse", text)
    for selector in ("", "a=b", "a!=b", "a=", "a!=", "a=b,c=d", "a=b,a!=c", r"a=b\,c"):
        for values in [*_VALUES, {"a": "b,c"}]:
            yield Case("fields.matches", {"selector": selector, "values": values})
    for text in _random_texts(["a", ",", "=", "\\", "\n", "é"], 60):
        yield Case("fields.escape", text)
        yield Case("fields.unescape", text)


_OPERATORS = {">": "gt", "<": "lt"}


def _selector(found: Selector) -> Any:
    return {
        "text": str(found),
        "requirements": [
            [each.key, _OPERATORS.get(each.operator, each.operator), list(each.values)]
            for each in found.requirements
        ],
        "nothing": found.is_nothing,
        "everything": found.is_everything,
    }


def _field_selector(found: FieldSelector) -> Any:
    return {
        "text": str(found),
        "terms": [[each.field, each.operator, each.value] for each in found.terms],
        "everything": found.is_everything,
    }


AREA = Area(
    _cases,
    {
        "labels.parse": lambda text: _selector(parse_labels(text)),
        "labels.matches": lambda given: parse_labels(given["selector"]).matches(given["values"]),
        "labels.exact": lambda given: parse_labels(given["selector"]).exact_value(given["key"]),
        "labels.fromMap": lambda given: str(selector_from_map(given)),
        "labels.fromObject": lambda given: _selector(selector_from_wire(given)),
        "fields.parse": lambda text: _field_selector(parse_fields(text)),
        "fields.matches": lambda given: parse_fields(given["selector"]).matches(given["values"]),
        "fields.escape": escape_field_value,
        "fields.unescape": unescape_field_value,
    },
)
