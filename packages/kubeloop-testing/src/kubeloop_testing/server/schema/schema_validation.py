"""Validates a value against a schema, as kube-openapi's validator in kube-apiserver.

Guarantees: reports every problem, not only the first; paths and messages are those of
kube-apiserver (`spec.size in body must be of type integer: "string"`); an update is not rejected
for values that did not change (ratcheting).
Not implemented: CEL rules (`x-kubernetes-validations`) are never evaluated (`crd_warnings`).
See also: lists that are sets or maps, embedded objects (`schemas`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, final

from ..statuses import Cause
from ..values import causes
from ..values.json_values import json_equal
from .patterns import matcher
from .schema_formats import has_format
from .schema_nodes import ABSENT, Node

__all__ = ["by_keys", "problems_of"]

_FORMAT_NAMES: Final = {
    "datetime": "date-time",
    "k8slongname": "k8s-long-name",
    "k8sshortname": "k8s-short-name",
}
_INT32: Final = range(-(2**31), 2**31)
_INT64: Final = range(-(2**63), 2**63)
_MAX_WHOLE: Final = 2**53 - 1  # larger floats are no integers of JSON
_FLOAT32_MAX: Final = 3.4028234663852886e38
# The path of kube-apiserver's errors of anyOf, oneOf, allOf and not, which belong to no field.
_NO_FIELD: Final = "<nil>"


def problems_of(node: Node, value: Any, old: Any = ABSENT, *, under: str = "") -> list[Cause]:
    """Why `value` is not valid for `node`; `under` is the field path of the value.

    With the `old` value, unchanged parts are accepted.
    """
    result = _check_ratcheting(node, value, "", old)
    return [_to_cause(each, under) for each in result.problems]


def by_keys(keys: Sequence[str], items: Any) -> Callable[[Any], Any]:
    """A function that finds the element of `items` with the keys of a given one, or ABSENT."""
    if not keys or not isinstance(items, list):
        return lambda _: ABSENT
    index = {_key(keys, each): each for each in items if isinstance(each, dict)}
    return lambda item: index.get(_key(keys, item), ABSENT) if isinstance(item, dict) else ABSENT


def _key(keys: Sequence[str], item: dict[str, Any]) -> str:
    return causes.as_json([item.get(key) for key in keys])


@final
class _Problem:
    """A cause whose path is relative to the validated value."""

    __slots__ = ("make", "path")

    def __init__(self, path: str, make: Callable[[str], Cause]) -> None:
        self.path = path
        self.make = make


@final
class _Result:
    """The problems of a value, and how many checks succeeded (to rank alternatives)."""

    __slots__ = ("matches", "problems")

    def __init__(self, *problems: _Problem, matches: int = 0) -> None:
        self.problems = list(problems)
        self.matches = matches

    def add(self, *others: _Result) -> None:
        for other in others:
            self.problems += other.problems
            self.matches += other.matches


def _to_cause(problem: _Problem, under: str) -> Cause:
    path = problem.path.removeprefix(".")
    if problem.path == _NO_FIELD:
        return problem.make(under or _NO_FIELD)
    return problem.make(f"{under}.{path}".strip(".") or _NO_FIELD)


def _check_ratcheting(node: Node, value: Any, path: str, old: Any) -> _Result:
    # Otherwise a stricter schema would block every update of old objects.
    found = _check(node, value, path, old)
    if found.problems and old is not ABSENT and json_equal(value, old):
        return _Result(matches=found.matches)
    return found


def _check(node: Node, value: Any, path: str, old: Any) -> _Result:
    # For null only type and enum are checked, as in kube-openapi.
    if value is None:
        found = _check_type(node, value, path)
        found.add(_check_enum(node, value, path))
        return found
    found = _Result(matches=1)
    for step in _steps_for(node, value):
        found.add(step(node, value, path, old))
        found.matches += 1
    return found


_Step = Callable[[Node, Any, str, Any], _Result]


def _steps_for(node: Node, value: Any) -> Iterator[_Step]:
    """The checks of a value, in the API server's order."""
    if node.types or node.format:
        yield _type_step
    if node.all_of or node.any_of or node.one_of or node.not_:
        yield _check_alternatives
    if isinstance(value, str):
        yield _check_string
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield _check_number
    elif isinstance(value, list):
        yield _check_list
    yield _enum_step
    if isinstance(value, dict):
        yield _check_object


def _type_step(node: Node, value: Any, path: str, _: Any) -> _Result:
    return _check_type(node, value, path)


def _enum_step(node: Node, value: Any, path: str, _: Any) -> _Result:
    return _check_enum(node, value, path)


def _check_type(node: Node, value: Any, path: str) -> _Result:
    kind, types = _json_type(value), node.types
    if not types or (value is None and node.nullable) or _is_one_of(types, kind, value):
        return _Result(matches=1)
    return _Result(_type_problem(path, ",".join(types), kind))


def _is_one_of(types: tuple[str, ...], kind: str, value: Any) -> bool:
    # An integer is a number, and 1.0 is an integer.
    if kind in types:
        return True
    if kind == "integer":
        return "number" in types
    is_whole = kind == "number" and float(value).is_integer() and abs(value) <= _MAX_WHOLE
    return is_whole and "integer" in types


def _json_type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
    return "object"


def _type_problem(path: str, expected: str, actual: str) -> _Problem:
    detail = f"{path} in body must be of type {expected}: {causes.quoted(actual)}"
    return _Problem(path, lambda field: causes.type_invalid(field, actual, detail))


def _rule_problem(path: str, value: Any, rule: str) -> _Problem:
    detail = f"{path} in body {rule}"
    return _Problem(path, lambda field: causes.invalid(field, value, detail))


def _check_enum(node: Node, value: Any, path: str) -> _Result:
    # Not limited to strings: any JSON value can be in an enum.
    if not node.enum or any(json_equal(value, each) for each in node.enum):
        return _Result()
    names = [each if isinstance(each, str) else causes.as_json(each) for each in node.enum]
    return _Result(_Problem(path, lambda field: causes.not_supported(field, value, names)))


# --- scalars


def _check_string(node: Node, value: Any, path: str, _: Any) -> _Result:
    # kube-openapi reports only the first of length and pattern, and the format in addition.
    found = _Result(matches=1)
    size, limit = len(value), node.max_length
    if limit is not None and size > limit:
        found.problems.append(_Problem(path, lambda field: causes.too_long(field, limit)))
    elif node.min_length is not None and size < node.min_length:
        rule = f"should be at least {node.min_length} chars long"
        found.problems.append(_rule_problem(path, value, rule))
    elif node.pattern and not matcher(node.pattern)(value):
        found.problems.append(_rule_problem(path, value, f"should match '{node.pattern}'"))
    if node.format and not has_format(node.format, value):
        found.problems.append(_format_problem(path, node.format, value))
    return found


def _format_problem(path: str, expected: str, value: str) -> _Problem:
    expected = _FORMAT_NAMES.get(expected, expected)
    detail = f"{path} in body must be of type {expected}: {causes.quoted(value)}"
    return _Problem(path, lambda field: causes.type_invalid(field, value, detail))


def _check_number(node: Node, value: Any, path: str, _: Any) -> _Result:
    rules = (*_range_rules(node, value, path), *_limit_rules(node, value, path))
    return _Result(*rules, matches=1)


def _range_rules(node: Node, value: Any, path: str) -> Iterator[_Problem]:
    # kube-openapi reports this without a field path and value.
    if _in_range(node, value):
        return
    detail_format = f"with format {node.format}" if node.format else "(default format)"
    detail = f"Checked value must be of type {node.type} {detail_format} in {path}"
    yield _Problem(_NO_FIELD, lambda field: causes.invalid(field, "", detail))


def _in_range(node: Node, value: float) -> bool:
    if node.type == "integer":
        return float(value).is_integer() and int(value) in (
            _INT32 if node.format == "int32" else _INT64
        )
    return node.format != "float" or abs(value) <= _FLOAT32_MAX


def _limit_rules(node: Node, value: Any, path: str) -> Iterator[_Problem]:
    """The limits, in the order of the API server: multipleOf, minimum, maximum."""
    factor, low, high = node.multiple_of, node.minimum, node.maximum
    if isinstance(value, int):
        # For an integer, kube-openapi cuts the limits to integers.
        factor, low, high = (None if each is None else int(each) for each in (factor, low, high))
    if factor is not None and factor <= 0:
        rule = f"factor MultipleOf declared for {path} must be positive"
        yield _Problem(path, lambda field: causes.invalid(field, factor, rule))
    elif factor is not None and not _is_multiple(value, factor):
        yield _rule_problem(path, value, f"should be a multiple of {causes.go_number(factor)}")
    if low is not None and (value < low or (value == low and node.exclusive_minimum)):
        rule = "greater than" if node.exclusive_minimum else "greater than or equal to"
        yield _rule_problem(path, value, f"should be {rule} {causes.go_number(low)}")
    if high is not None and (value > high or (value == high and node.exclusive_maximum)):
        rule = "less than" if node.exclusive_maximum else "less than or equal to"
        yield _rule_problem(path, value, f"should be {rule} {causes.go_number(high)}")


def _is_multiple(value: float, factor: float) -> bool:
    # With a tolerance, because 0.3 is no exact multiple of 0.1 in binary.
    if isinstance(value, int) and float(factor).is_integer():
        return value % int(factor) == 0
    times = (1 / factor) * value if factor < 1 else value / factor
    return abs(times - round(times)) <= 1e-9 * max(1.0, abs(times))


# --- lists and objects


def _check_list(node: Node, value: list[Any], path: str, old: Any) -> _Result:
    # Only elements of keyed lists can be matched with their old values.
    found = _Result(*_size_rules(node, value, path), matches=1)
    if node.items is not None:
        before = by_keys(node.list_map_keys if node.list_type == "map" else (), old)
        for index, item in enumerate(value):
            found.add(_check_ratcheting(node.items, item, f"{path}[{index}]", before(item)))
    return found


def _size_rules(node: Node, value: list[Any], path: str) -> Iterator[_Problem]:
    size, limit = len(value), node.max_items
    if node.min_items is not None and size < node.min_items:
        yield _rule_problem(path, size, f"should have at least {node.min_items} items")
    if limit is not None and size > limit:
        yield _Problem(path, lambda field: causes.too_many(field, size, limit))
    if node.unique_items and _has_duplicates(value):
        yield _rule_problem(path, "", "shouldn't contain duplicates")


def _has_duplicates(value: list[Any]) -> bool:
    return len({causes.as_json(each) for each in value}) < len(value)


def _check_object(node: Node, value: dict[str, Any], path: str, old: Any) -> _Result:
    found = _Result(*_count_rules(node, value, path), *_closed_rules(node, value, path))
    for name, child in _known_fields(node, value):
        before = old.get(name, ABSENT) if isinstance(old, dict) else ABSENT
        found.add(_check_ratcheting(child, value[name], _below(path, name), before))
    found.problems += [
        _Problem(f"{path}.{name}", causes.required) for name in node.required if name not in value
    ]
    return found


def _known_fields(node: Node, value: dict[str, Any]) -> Iterator[tuple[str, Node]]:
    rest = None if node.closed else node.additional
    if rest is not None:
        yield from ((name, rest) for name in value if name not in node.properties)
    yield from ((name, child) for name, child in node.properties.items() if name in value)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _count_rules(node: Node, value: dict[str, Any], path: str) -> Iterator[_Problem]:
    size, limit = len(value), node.max_properties
    if node.min_properties is not None and size < node.min_properties:
        yield _rule_problem(path, size, f"should have at least {node.min_properties} properties")
    if limit is not None and size > limit:
        yield _Problem(path, lambda field: causes.too_many(field, size, limit))


def _closed_rules(node: Node, value: dict[str, Any], path: str) -> Iterator[_Problem]:
    if node.closed:
        for name in [each for each in value if each not in node.properties]:
            yield _forbidden_property(path, name)


def _forbidden_property(path: str, name: str) -> _Problem:
    detail = f"{path}.{name} in body is a forbidden property"
    return _Problem(path, lambda field: causes.invalid(field, name, detail))


# --- anyOf, oneOf, allOf, not


def _check_alternatives(node: Node, value: Any, path: str, old: Any) -> _Result:
    found = _Result(matches=1)
    if node.any_of:
        found.add(_check_any(node.any_of, value, path, old))
    if node.one_of:
        found.add(_check_one(node.one_of, value, path, old))
    if node.all_of:
        found.add(_check_all(node.all_of, value, path, old))
    if node.not_ is not None and not _check(node.not_, value, path, old).problems:
        found.problems.append(
            _problem_without_field(f'"{path}" must not validate the schema (not)')
        )
    return found


def _problem_without_field(detail: str) -> _Problem:
    return _Problem(_NO_FIELD, lambda field: causes.invalid(field, "", detail))


def _check_any(nodes: tuple[Node, ...], value: Any, path: str, old: Any) -> _Result:
    """Valid if one alternative is; else an error, and the problems of the best match."""
    results = [_check(each, value, path, old) for each in nodes]
    valid = next((each for each in results if not each.problems), None)
    if valid is not None:
        return valid
    found = _Result(_problem_without_field(f'"{path}" must validate at least one schema (anyOf)'))
    found.add(_best_match(results))
    return found


def _check_one(nodes: tuple[Node, ...], value: Any, path: str, old: Any) -> _Result:
    results = [_check(each, value, path, old) for each in nodes]
    valid = [each for each in results if not each.problems]
    if len(valid) == 1:
        return valid[0]
    count = f"Found {len(valid)} valid alternatives" if valid else "Found none valid"
    detail = f'"{path}" must validate one and only one schema (oneOf). {count}'
    found = _Result(_problem_without_field(detail))
    if not valid:
        found.add(_best_match(results))
    return found


def _check_all(nodes: tuple[Node, ...], value: Any, path: str, old: Any) -> _Result:
    results = [_check(each, value, path, old) for each in nodes]
    found = _Result()
    found.add(*results)
    valid = sum(not each.problems for each in results)
    if valid < len(results):
        suffix = "" if valid else ". None validated"
        detail = f'"{path}" must validate all the schemas (allOf){suffix}'
        found.problems.append(_problem_without_field(detail))
    return found


def _best_match(results: list[_Result]) -> _Result:
    return max(results, key=lambda each: each.matches)
