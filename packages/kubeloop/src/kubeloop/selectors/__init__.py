"""Label selectors and field selectors: parse them, build them, match objects with them.

Guarantees: pure; a selector that cannot be parsed is an `InvalidArgument`, never "everything".
See also: where clients and listers take them (`selector=`, `field_selector=`).
"""

from __future__ import annotations

from .fields import Field, FieldSelector, field_selector_from_map, parse_fields
from .labels import (
    EVERYTHING,
    NOTHING,
    Label,
    Selector,
    parse_labels,
    selector_from_map,
    selector_from_wire,
)
from .requirements import Requirement

__all__ = [
    "EVERYTHING",
    "NOTHING",
    "Field",
    "FieldSelector",
    "Label",
    "Requirement",
    "Selector",
    "field_selector_from_map",
    "parse_fields",
    "parse_labels",
    "selector_from_map",
    "selector_from_wire",
]

# For other packages of kubeloop; not public.
from .fields import ALL_FIELDS as ALL_FIELDS
from .fields import NO_FIELDS as NO_FIELDS
from .fields import FieldTerm as FieldTerm
from .fields import FieldValues as FieldValues
from .fields import as_field_selector as as_field_selector
from .fields import escape_field_value as escape_field_value
from .fields import field_selector_text as field_selector_text
from .fields import unescape_field_value as unescape_field_value
from .labels import as_selector as as_selector
from .labels import selector_text as selector_text
from .requirements import LabelOperator as LabelOperator
