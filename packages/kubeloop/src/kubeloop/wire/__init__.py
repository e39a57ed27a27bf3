"""The types of the API as data: models, scalar types, resources, and their JSON and YAML.

The kinds are in one module per group version (`kubeloop.wire.core.v1`, `kubeloop.wire.apps.v1`,
...); none is imported before it is used. Here are the parts that they are made of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeloop._lazy import lazy_names

from .codec import decode
from .kinds import Resource
from .model import UNSET, Kind, Model
from .raw import Raw
from .resources import ResourceInfo, resource_of, resources
from .scalars import Duration, IntOrString, MicroTime, Quantity, Time

# isort: split
# For other packages of kubeloop; not public.
from .codec import complete as complete
from .encoding import to_builtins as to_builtins
from .encoding import to_data as to_data
from .encoding import to_json as to_json
from .errors import DecodeError as DecodeError
from .errors import InvalidArgument as InvalidArgument
from .errors import KubeError as KubeError
from .raw import RawEvent as RawEvent
from .raw import RawList as RawList
from .raw import split_event as split_event
from .raw import split_list as split_list
from .resources import Subresource as Subresource
from .resources import class_for as class_for
from .resources import is_list_kind as is_list_kind
from .resources import resource_for as resource_for
from .scalars import QuantityFormat as QuantityFormat
from .scalars import format_micro_time as format_micro_time
from .scalars import format_time as format_time
from .scalars import parse_time as parse_time
from .text import get_logger as get_logger
from .text import visible as visible

if TYPE_CHECKING:
    from .definitions import Column, ScalePaths
    from .int_or_string import parse_int_or_string, scaled_value
    from .manifests import dump_yaml, load_yaml
    from .projection import Projection

    # isort: split
    # For other packages of kubeloop; not public.
    from .definitions import required_fields as required_fields
    from .facts import NO_FACTS as NO_FACTS
    from .facts import FieldFacts as FieldFacts
    from .facts import TypeFacts as TypeFacts
    from .field_cutter import FieldCutter as FieldCutter
    from .field_cutter import overlaps as overlaps
    from .int_or_string import check_int_or_string as check_int_or_string
    from .json_values import Json as Json
    from .json_values import JsonObject as JsonObject
    from .manifests import parse_manifest as parse_manifest
    from .projection_protobuf import MessageProjection as MessageProjection
    from .projection_protobuf import read_label as read_label
    from .projection_protobuf import read_owner as read_owner
    from .projection_protobuf import read_time as read_time
    from .projection_protobuf import type_bytes as type_bytes
    from .protobuf_codec import MessageReader as MessageReader
    from .protobuf_codec import UnknownFields as UnknownFields
    from .protobuf_codec import identity_in as identity_in
    from .protobuf_codec import message_reader as message_reader
    from .protobuf_codec import open_envelope as open_envelope
    from .schema import facts_of as facts_of
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".definitions": "Column ScalePaths required_fields",
            ".facts": "FieldFacts NO_FACTS TypeFacts",
            ".field_cutter": "FieldCutter overlaps",
            ".int_or_string": "check_int_or_string parse_int_or_string scaled_value",
            ".json_values": "Json JsonObject",
            ".manifests": "dump_yaml load_yaml parse_manifest",
            ".projection": "Projection",
            ".projection_protobuf": "MessageProjection read_label read_owner read_time type_bytes",
            ".protobuf_codec": (
                "MessageReader UnknownFields identity_in message_reader open_envelope"
            ),
            ".schema": "facts_of",
        },
    )

__all__ = [
    "UNSET",
    "Column",
    "Duration",
    "IntOrString",
    "Kind",
    "MicroTime",
    "Model",
    "Projection",
    "Quantity",
    "Raw",
    "Resource",
    "ResourceInfo",
    "ScalePaths",
    "Time",
    "decode",
    "dump_yaml",
    "load_yaml",
    "parse_int_or_string",
    "resource_of",
    "resources",
    "scaled_value",
]
