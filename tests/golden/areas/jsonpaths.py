"""JSONPath templates, as kubectl accepts them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from kubeloop.jsonpath import JSONPath
from tests.golden.case import Area, Case

_DATA: dict[str, Any] = {
    "kind": "List",
    "n": 3,
    "f": 1.5,
    "t": True,
    "no": None,
    "empty": {},
    "none": [],
    "text": "a b",
    "dotted.key": "d",
    "items": [
        {"name": "a", "size": 1, "tags": ["x", "y"], "labels": {"app": "web"}, "on": True},
        {
            "name": "b",
            "size": 2,
            "tags": [],
            "labels": {"app": "api", "k8s.io/x": "1"},
            "on": False,
        },
        {"name": "c", "size": 3.5, "nested": {"name": "inner", "deep": {"name": "deepest"}}},
    ],
    "numbers": [1, 2, 3, 4, 5],
    "matrix": [[1, 2], [3, 4]],
}
_TEMPLATES = """\
|plain|{}|{.}|{@}|{$}|{.kind}|{kind}|{$.kind}|{@.kind}|{.n}|{.f}|{.t}|{.no}|{.empty}|{.none}|{.text}|{.missing}
{.items}|{.items[*].name}|{.items[0].name}|{.items[-1].name}|{.items[3].name}|{.items[-4].name}|{.items[0:2].name}
{.items[1:].name}|{.items[:1].name}|{.items[:-1].name}|{.items[::2].name}|{.items[0:3:2].name}|{.items[2:1].name}
{.items[5:].name}|{.items[-2:].name}|{.items[::0].name}|{.items[::-1].name}|{.items[0,2].name}|{.items[0,5].name}
{.items.*.name}|{.items[*]}|{..name}|{..size}|{.items..name}|{.items[*].tags[*]}|{.items[*].tags[0]}|{.numbers}
{.numbers[*]}|{.numbers[1:3]}|{.numbers[-1:]}|{.numbers[0,-1]}|{.matrix[*][0]}|{.matrix[1][*]}|{.matrix[*][*]}
{.items[?(@.name=="a")].size}|{.items[?(@.name=='b')].size}|{.items[?(@.size>1)].name}|{.items[?(@.size>=2)].name}
{.items[?(@.size<2)].name}|{.items[?(@.size<=2)].name}|{.items[?(@.size!=2)].name}|{.items[?(@.size==2)].name}
{.items[?(@.size==3.5)].name}|{.items[?(@.size>1.5)].name}|{.items[?(@.on==true)].name}|{.items[?(@.on)].name}
{.items[?(@.nested)].name}|{.items[?(@.missing)].name}|{.items[?(@.labels.app=="web")].name}|{.numbers[?(@>2)]}
{.numbers[?(@==3)]}|{.items[?(@.name!="a")].name}|{.items[?(@.name=a)].name}|{.items[?(@.name)]}|{.items[?()].name}
{.items[?(@.tags[0]=="x")].name}|{.items[?(@.name=="a" && @.size==1)].name}|{.items[?(@.name=="a"||@.name=="b")].name}
{.items[*]['name','size']}|{.items[0]['name']}|{['kind']}|{.['kind']}|{.['dotted.key']}|{.dotted\\.key}|{.dotted.key}
{.items[0].labels.app}|{.items[1].labels['k8s.io/x']}|{.items[1].labels.k8s\\.io/x}|{.items[*].labels.app}
{range .items[*]}{.name}{end}|{range .items[*]}{.name}{"\\n"}{end}|{range .items[*]}[{.name}, {.size}] {end}|{range .items}{.name}{end}
{range .items[*]}{.tags[*]};{end}|{range .none[*]}{.name}{end}|{range .missing[*]}{.name}{end}|{range .items[*]}{.name}|{end}
{range .items[*]}{range .tags[*]}{@}{end}{end}|{range .items[*]}{@.name}{end}|{range .numbers[*]}{@},{end}|{range}{end}
{"a"}|{'a'}|{"\\t"}|{'\\n'}|{"a\\"b"}|{"}"}|{'it''s'}|a{.kind}b|{.kind}{.n}|{.kind} {.n}|{ .kind }|{.kind|.kind}|{.kind}}|{{.kind}
{.items[}|{.items]}|{.items[a]}|{.items[1.5]}|{.items["name"]}|{.items[*}|{.items[?(@.a}|{|}|{.kind|{"unclosed}|{.a b}|{.n.x}
{.kind[0]}|{.kind.*}|{.n[0]}|{.items[0][0]}|{.empty.*}|{.none[0]}|{.none[*]}|{.none[0:1]}|{1}|{1.5}|{true}|{-1}|{0x1}|{.1}
{..labels.app}|{..tags[0]}|{.items[*].nested.name}|{.items[*].missing}|{.items[0].missing.deeper}|{.no.x}|{.t.x}|{$..name}
{@..name}|{.items[?(@.size > 1)].name}|{.items[?( @.size==1 )].name}|{.items[? (@.size==1)].name}|{.items[?(1==1)].name}
{.items[?("a"=="a")].name}|{.items[?(@.name in "a")].name}|{.items[?(@.size=="1")].name}|{.items[?(@.name>"a")].name}
{.items[?(@.name<"b")].name}|{.items[?(@.missing==1)].name}|{.items[?(@.no==null)].name}|{.items[01].name}|{.items[+1].name}
{.items[ 1 ].name}|{.items[1 ].name}|{.items[0 , 1].name}|{.items[0:].name}|{.items[:].name}|{.items[].name}|{.items[''].name}
{.item\\s}|{.text[*]}|{.\\.}|{...name}|{.kind.}|{.items[(@.length-1)].name}|{.items[*].labels}|{.items[0]}|{.items[1]}"""


def _templates() -> Iterator[str]:
    # A bar between braces is part of a template: split only where a template can end.
    for line in _TEMPLATES.split("\n"):
        yield from line.split("|")
    yield '{range .items[*]}{.name}{"|"}{end}'
    yield '{.items[?(@.name=="a"||@.name=="b")].name}'
    yield "{range .items[*]}{.name}"
    yield "{end}"
    yield "{range .items[*]}{.name}{end}{end}"
    yield "{.items[*].name}\n{.kind}"


def _cases() -> Iterator[Case]:
    for template, missing in itertools.product(dict.fromkeys(_templates()), (False, True)):
        yield Case("jsonpath.print", {"template": template, "data": _DATA, "missing": missing})
    for template, data in itertools.product(
        ("{.}", "{@}", "{.a}", "{[0]}", "{.*}", "{[*]}", "{..a}"),
        (
            {},
            [],
            "a",
            1,
            1.5,
            True,
            None,
            {"a": 1},
            {"a": None},
            [1, [2]],
            [{"a": 1}],
            {"a": {"a": 2}},
        ),
    ):
        yield Case("jsonpath.print", {"template": template, "data": data, "missing": False})
    for number in (1e3, 1e20, 1e21, 1.0, 0.1, 1e-7, 123456789.125, 9007199254740993, 3.0e10):
        yield Case("jsonpath.print", {"template": "{.a}", "data": {"a": number}, "missing": False})


def _print(given: Any) -> str:
    path = JSONPath(given["template"], allow_missing_keys=given["missing"])
    return path.render(given["data"])


AREA = Area(_cases, {"jsonpath.print": _print})
