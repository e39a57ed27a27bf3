"""Random structural schemas with hostile text in every place, and objects that fit them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kubeloop.crd import INT_OR_STRING, QUANTITY

__all__ = ["JSON", "TEXT", "objects_for", "schemas"]

_HOSTILE = [
    '"""',
    "'''",
    '"""\nimport os\n"""',
    "\\",
    '\\"""',
    '"',
    "'",
    '\\"',
    "a\nimport os\n",
    "\r\nimport os",
    "\u2028import os\u2029",
    "\x0cimport os",
    "\x85import os",
    "\x00",
    "#",
    "{0}{x}%s",
    '"+__import__("os").getcwd()+"',
    "'; raise SystemExit #",
    "\\N{BULLET}",
    "\\x41",
    "\\u0041",
    "ſ",
    "ﬁ",
    "__class__",
    "_extra",
    "$extra",
    "class",
    "time",
    "Time",
    "msgspec",
    "list",
    "Model",
    "self",
    "",
    " indented\n\ttext ",
    "first\n\n  second\nthird\n",
    "🐍",
]
TEXT = st.one_of(st.sampled_from(_HOSTILE), st.text(max_size=12))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
# Names that msgspec can find; those it cannot are refused, which has a test of its own.
_KEYS = TEXT.filter(lambda text: text != "$extra" and not set(text) & set('"\\') and
                    all(character >= " " for character in text))  # fmt: skip


def _with(schema: dict[str, Any], **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """`schema` and any of the keywords; a double underscore stands for a dash."""
    more = {key.replace("__", "-"): value for key, value in optional.items()}
    more["description"] = TEXT
    return st.fixed_dictionaries({}, optional=more).map(lambda found: found | schema)


_SMALL = st.integers(0, 5)
_RULES = st.lists(st.fixed_dictionaries({"rule": TEXT, "message": TEXT}), max_size=2)


def _scalars(*, defaults: bool) -> st.SearchStrategy[Any]:
    def default(values: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
        return {"default": values} if defaults else {}

    return st.one_of(
        _with({"type": "string"}, pattern=TEXT, format=st.just("uuid"), title=TEXT,
              x__kubernetes__validations=_RULES, nullable=st.booleans(), **default(TEXT)),
        _with({"type": "string"}, minLength=st.just(0), maxLength=st.just(99), **default(JSON)),
        st.lists(TEXT, min_size=1, max_size=3, unique=True).flatmap(
            lambda words: _with({"type": "string", "enum": words},
                                **default(st.sampled_from(words)))
        ),
        _with({"type": "string", "format": "date-time"}, **default(TEXT)),
        _with({"type": "string", "format": "byte"}, **default(TEXT)),
        _with({"type": "boolean"}, **default(st.booleans())),
        _with({"type": "integer"}, minimum=st.integers(-(2**64), 0) | st.just(-1.5),
              maximum=st.integers(9, 2**64), nullable=st.booleans(), **default(st.integers())),
        _with({"type": "number"}, minimum=st.just(-0.5), maximum=st.just(1e9),
              exclusiveMinimum=st.just(True), **default(st.integers(0, 9) | st.floats(0, 9))),
        _with(dict(QUANTITY), **default(TEXT)),
        _with(dict(INT_OR_STRING), pattern=TEXT, **default(TEXT | st.integers())),
        _with({"x-kubernetes-preserve-unknown-fields": True}, **default(JSON)),
        _with({"type": "object", "x-kubernetes-preserve-unknown-fields": True},
              maxProperties=st.just(9), **default(JSON)),
    )  # fmt: skip


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def objects(properties: dict[str, Any]) -> st.SearchStrategy[Any]:
        names = st.lists(st.sampled_from(sorted(properties) or [""]), unique=True, max_size=2)
        return _with(
            {"type": "object", "properties": properties},
            required=names.filter(lambda found: bool(found) and bool(properties)).map(sorted),
            x__kubernetes__validations=_RULES,
            nullable=st.booleans(),
        )

    return st.one_of(
        inner.flatmap(
            lambda item: _with(
                {"type": "array", "items": item},
                maxItems=st.integers(3, 9),
                x__kubernetes__list__type=st.sampled_from(["atomic", "set"]),
            )
        ),
        inner.flatmap(lambda value: _with({"type": "object", "additionalProperties": value})),
        st.dictionaries(_KEYS, inner, max_size=4).flatmap(objects),
    )


def schemas(*, defaults: bool = True) -> st.SearchStrategy[dict[str, Any]]:
    """Schemas of whole objects: a spec with everything, and a status."""
    parts = st.recursive(_scalars(defaults=defaults), _nested, max_leaves=8)
    return st.fixed_dictionaries(
        {"spec": _nested(parts), "status": _nested(_scalars(defaults=defaults))}
    ).flatmap(lambda found: _with({"type": "object", "properties": found}))


def objects_for(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """JSON that a schema allows, in the form in which the API's types are sent."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema.get("x-kubernetes-int-or-string"):
        amounts = st.sampled_from(["1", "500m", "2Gi", "1.50"])
        return amounts if "pattern" in schema and len(schema["pattern"]) > 50 else TEXT | _SMALL
    simple = _SIMPLE.get((schema.get("type"), schema.get("format")))
    if simple is not None:
        return simple
    match schema.get("type"):
        case "array":
            return st.lists(objects_for(schema["items"]), max_size=3)
        case "object" if "properties" in schema:
            return _object_for(schema)
        case "object" if "additionalProperties" in schema:
            return st.dictionaries(TEXT, objects_for(schema["additionalProperties"]), max_size=3)
        case "object":
            return st.dictionaries(TEXT, JSON, max_size=3)
    return JSON.filter(lambda value: value is not None)


_SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    ("string", None): TEXT,
    ("string", "uuid"): TEXT,
    ("string", "date-time"): st.just("2024-01-02T03:04:05Z"),
    ("string", "byte"): st.sampled_from(["", "aGVsbG8="]),
    ("boolean", None): st.booleans(),
    ("integer", None): st.integers(1, 9),
    ("number", None): st.floats(0, 9, exclude_min=True),
}


def _object_for(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    known = {key: objects_for(inner) for key, inner in schema["properties"].items()}
    unknown = st.dictionaries(TEXT.map("newer-".__add__), JSON, max_size=1)
    return st.tuples(st.fixed_dictionaries({}, optional=known), unknown).map(
        lambda found: found[0] | {key: value for key, value in found[1].items() if key not in known}
    )
