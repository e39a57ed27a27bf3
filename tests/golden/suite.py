"""Golden cases: inputs made here, answered by client-go, compared with kubeloop's answers.

An area makes its cases deterministically and says how kubeloop answers each operation. The
answers of client-go are in `answers/`, written by `make golden`; `differences.json` names the
cases that differ on purpose, each group under its row of docs/reference/differences.md.
See also: `clientgo` (the Go program that answers), `test_golden` (the rules).
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from kubeloop.errors import KubeError
from tests.golden import areas
from tests.golden.case import Area, Case, Json

__all__ = [
    "ANSWERS",
    "AREAS",
    "Mark",
    "agrees",
    "areas_of_suite",
    "identity",
    "marks",
    "our_answer",
    "read_answers",
    "text_of",
    "write_answers",
]

_FOLDER = Path(__file__).parent
ANSWERS = _FOLDER / "answers"
_REFUSED = {"refused": True}


class Mark(NamedTuple):
    """Cases of one operation that differ on purpose, and their row of the differences page."""

    about: str
    operation: str
    cases: list[Json]


def areas_of_suite() -> dict[str, Area]:
    """Every area by the name of its module."""
    found = {}
    for module in pkgutil.iter_modules(areas.__path__):
        found[module.name] = importlib.import_module(f"{areas.__name__}.{module.name}").AREA
    return found


AREAS = areas_of_suite()


def identity(case: Case) -> str:
    """What tells one case from another."""
    return f"{case.operation} {_text(case.given)}"


def our_answer(area: Area, case: Case) -> Json:
    """kubeloop's answer, in the form of the Go program's; any error but ours is a crash."""
    try:
        return {"value": area.ours[case.operation](case.given)}
    except KubeError:
        return _REFUSED
    except Exception as error:  # noqa: BLE001 - it is shown as a difference
        return {"crashed": f"{type(error).__name__}: {error}"}


def agrees(ours: Json, theirs: Json) -> bool:
    """Whether two answers say the same; a panic of client-go counts as a refusal."""
    return text_of(ours) == text_of(_REFUSED if "panics" in theirs else theirs)


def text_of(answer: Json) -> str:
    """An answer as text that is equal for equal answers."""
    return _text(_plain(answer))


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True)


def _plain(value: Json) -> Json:
    """Whole floats as integers: JSON knows one kind of number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def read_answers(name: str) -> tuple[Json, list[tuple[Case, Json]]]:
    """The head of an answers file, and its cases with client-go's answers."""
    content = json.loads((ANSWERS / f"{name}.json").read_text(encoding="utf-8"))
    listed = [(Case(operation, given), answer) for operation, given, answer in content["cases"]]
    return content["source"], listed


def write_answers(name: str, source: Json, answered: Iterable[tuple[Case, Json]]) -> str:
    """The text of an answers file: one case a line, so that a change is easy to read."""
    lines = ",\n".join(
        json.dumps([*case, answer], ensure_ascii=False, sort_keys=True) for case, answer in answered
    )
    head = json.dumps({"made by": "make golden", **source}, sort_keys=True)
    return f'{{"source": {head},\n"cases": [\n{lines}\n]}}\n'


def marks() -> Iterator[Mark]:
    """The groups of cases that are marked as different."""
    for group in json.loads((_FOLDER / "differences.json").read_text(encoding="utf-8")):
        yield Mark(group["about"], group["operation"], group["cases"])
