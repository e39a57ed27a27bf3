"""What crosses the network: models, scalars, and the tables of the API, as data only.

The kinds are in one module a group version (`kubeloop.wire.core.v1`, `kubeloop.wire.apps.v1`,
…), and none is imported before it is used. Here are the parts they are made of.
"""

from .codec import decode
from .definitions import Column, ScalePaths, required_fields
from .errors import DecodeError, InvalidArgument, KubeError
from .facts import NO_FACTS, FieldFacts, TypeFacts

# For other packages of kubeloop; not public.
from .json_values import Json as Json
from .json_values import JsonObject as JsonObject
from .kinds import Resource
from .manifests import dump_yaml, load_yaml, parse_manifest
from .model import UNSET, Kind, Model
from .projection import Projection
from .raw import Raw, RawEvent, RawList, split_event, split_list
from .resources import (
    ResourceInfo,
    Subresource,
    class_for,
    resource_for,
    resource_of,
    resources,
)
from .scalars import (
    Duration,
    IntOrString,
    MicroTime,
    Quantity,
    QuantityFormat,
    Time,
    format_micro_time,
    format_time,
    parse_time,
)
from .schema import facts_of
from .text import visible

__all__ = [
    "NO_FACTS",
    "UNSET",
    "Column",
    "DecodeError",
    "Duration",
    "FieldFacts",
    "IntOrString",
    "InvalidArgument",
    "Kind",
    "KubeError",
    "MicroTime",
    "Model",
    "Projection",
    "Quantity",
    "QuantityFormat",
    "Raw",
    "RawEvent",
    "RawList",
    "Resource",
    "ResourceInfo",
    "ScalePaths",
    "Subresource",
    "Time",
    "TypeFacts",
    "class_for",
    "decode",
    "dump_yaml",
    "facts_of",
    "format_micro_time",
    "format_time",
    "load_yaml",
    "parse_manifest",
    "parse_time",
    "required_fields",
    "resource_for",
    "resource_of",
    "resources",
    "split_event",
    "split_list",
    "visible",
]
