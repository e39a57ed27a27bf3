"""CEL rules in the schema of a CustomResourceDefinition: what can be checked without CEL.

Guarantees: causes have kube-apiserver's paths and reasons; expressions are neither compiled nor
evaluated, and `rules_of` finds every one of them, so that a client can be warned.
See also: the other keywords (`crd_keywords`), the warnings (`crd_warnings`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..statuses import Cause
from ..values import causes
from ..values.json_values import Json

__all__ = ["problems_of_rules", "rules_of"]


_KEYWORD: Final = "x-kubernetes-validations"
_REASONS: Final = (
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
)
_LINE_BREAK: Final = re.compile(r"[\n\r]")
_OLD_SELF: Final = re.compile(r"\boldSelf\b")
# One step of a field path: `.name` or `['name']`.
_STEP: Final = re.compile(r"\.([a-zA-Z_][a-zA-Z0-9_-]*)|\['((?:[^'\\]|\\.)*)'\]")


def problems_of_rules(schema: Json, path: str) -> Iterator[Cause]:
    """What is wrong with the rules of one subschema at `path`."""
    for index, rule in enumerate(schema.get(_KEYWORD) or ()):
        where = f"{path}.{_KEYWORD}[{index}]"
        found = [*_text_problems(rule, where), *_field_problems(rule, schema, where)]
        yield from found
        # Found by the compiler, so after all others.
        old = rule.get("optionalOldSelf")
        if not found and old is not None and not _OLD_SELF.search(rule["rule"]):
            detail = "may not be set if oldSelf is not used in rule"
            yield causes.invalid(f"{where}.optionalOldSelf", old, detail)


def _text_problems(rule: Json, where: str) -> Iterator[Cause]:
    text, message = str(rule.get("rule") or ""), str(rule.get("message") or "")
    if not text.strip():
        yield causes.required(f"{where}.rule", "rule is not specified")
    elif message and not message.strip():
        yield causes.invalid(
            f"{where}.message", message, "messageExpression must be non-empty if specified"
        )
    elif _LINE_BREAK.search(message.strip()):
        yield causes.invalid(f"{where}.message", message, "must not contain line breaks")
    elif _LINE_BREAK.search(text.strip()) and not message.strip():
        detail = "message must be specified if rule contains line breaks"
        yield causes.required(f"{where}.message", detail)
    expression = str(rule.get("messageExpression") or "")
    if expression and not expression.strip():
        yield causes.required(
            f"{where}.messageExpression", "messageExpression must be non-empty if specified"
        )


def _field_problems(rule: Json, schema: Json, where: str) -> Iterator[Cause]:
    reason, field = rule.get("reason"), str(rule.get("fieldPath") or "")
    if reason is not None and reason not in _REASONS:
        yield causes.not_supported(f"{where}.reason", reason, _REASONS)
    if not field:
        return
    where = f"{where}.fieldPath"
    if not field.strip():
        yield causes.invalid(where, field, "messageExpression must be non-empty if specified")
    if _LINE_BREAK.search(field):
        yield causes.invalid(where, field, "must not contain line breaks")
    if not _is_field(schema, field):
        yield causes.invalid(where, field, "must be a valid path")


def _is_field(schema: Json | None, path: str) -> bool:
    """Whether a path leads to a field of the schema (`ValidFieldPath` of apiextensions)."""
    end = 0
    while end < len(path):
        step = _STEP.match(path, end)
        if step is None or schema is None:
            return False
        name = step[1] or re.sub(r"\\(.)", r"\1", step[2] or "")
        rest = schema.get("additionalProperties")
        others = rest if isinstance(rest, Mapping) else None
        schema = (schema.get("properties") or {}).get(name, others)
        end = step.end()
    return schema is not None


def rules_of(schema: Any, path: str = "") -> Iterator[str]:
    """The paths of the fields that have rules, such as `spec.size`; the root is empty."""
    if not isinstance(schema, Mapping):
        return
    if schema.get(_KEYWORD):
        yield path
    for name, each in (schema.get("properties") or {}).items():
        yield from rules_of(each, f"{path}.{name}" if path else name)
    yield from rules_of(schema.get("items"), f"{path}[]")
    yield from rules_of(schema.get("additionalProperties"), f"{path}[*]")
