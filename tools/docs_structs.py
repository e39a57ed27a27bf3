"""Shows msgspec structs in the reference with a signature and documented fields.

mkdocstrings reads sources through griffe, which supports dataclasses but not structs. This
extension gives a struct the `__init__` that msgspec creates at run time, and uses the comment
at the end of a field's line as the field's description.
Guarantees: nothing is imported; existing docstrings are not changed.
See also: `mkdocs.yml` (which pages there are), `docs_site` (generated pages).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import griffe

__all__ = ["Structs"]

# Models are written by keyword; their fields are the API's, and have no signature here.
STRUCTS = frozenset({"msgspec.Struct", "kubeloop.config.redaction.Redacted"})


class Structs(griffe.Extension):  # type: ignore[misc] # griffe is not read by mypy
    """A griffe extension, named in `mkdocs.yml`."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Called for every class of the package, once it is read."""
        _describe_fields(cls)
        if _is_struct(cls) and "__init__" not in cls.members:
            cls.set_member("__init__", _init_of(cls))


def _is_struct(cls: griffe.Class) -> bool:
    return any(_path(base) in STRUCTS for base in cls.bases)


def _path(base: str | griffe.Expr) -> str:
    return base if isinstance(base, str) else base.canonical_path


def _fields(cls: griffe.Class) -> Iterator[griffe.Attribute]:
    for each in cls.members.values():
        # A class variable is no attribute of an instance, and a property has its own words.
        if isinstance(each, griffe.Attribute) and "instance-attribute" in each.labels:
            yield each


def _describe_fields(cls: griffe.Class) -> None:
    for field in _fields(cls):
        if field.docstring is None and (comment := _comment(field)):
            field.docstring = griffe.Docstring(comment, parent=field)


def _comment(field: griffe.Attribute) -> str:
    _, mark, comment = field.source.splitlines()[-1].partition("  # ")
    return f"{comment[0].upper()}{comment[1:]}." if mark and not _is_pragma(comment) else ""


def _is_pragma(comment: str) -> bool:
    return comment.startswith(("noqa", "type:", "fmt:", "pragma:"))


def _init_of(cls: griffe.Class) -> griffe.Function:
    takes = griffe.ParameterKind.keyword_only if _is_keyword_only(cls) else _EITHER
    parameters = [griffe.Parameter("self", kind=_EITHER)]
    parameters += [
        griffe.Parameter(field.name, annotation=field.annotation, kind=takes, default=field.value)
        for field in _fields(cls)
    ]
    return griffe.Function(
        "__init__", parameters=griffe.Parameters(*parameters), returns="None", parent=cls
    )


_EITHER = griffe.ParameterKind.positional_or_keyword


def _is_keyword_only(cls: griffe.Class) -> bool:
    return str(cls.keywords.get("kw_only", "")) == "True"
