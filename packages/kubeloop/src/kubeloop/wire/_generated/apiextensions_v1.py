# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from ..scalars import Time
from msgspec import field
from typing import Any
from typing import ClassVar
from . import meta_v1

__all__ = [
    "CustomResourceColumnDefinition",
    "CustomResourceConversion",
    "CustomResourceDefinition",
    "CustomResourceDefinitionCondition",
    "CustomResourceDefinitionList",
    "CustomResourceDefinitionNames",
    "CustomResourceDefinitionSpec",
    "CustomResourceDefinitionStatus",
    "CustomResourceDefinitionVersion",
    "CustomResourceSubresourceScale",
    "CustomResourceSubresourceStatus",
    "CustomResourceSubresources",
    "CustomResourceValidation",
    "ExternalDocumentation",
    "JSONSchemaProps",
    "SelectableField",
    "ServiceReference",
    "ValidationRule",
    "WebhookClientConfig",
    "WebhookConversion",
]


class CustomResourceColumnDefinition(Model):
    description: str | None = None
    format: str | None = None
    json_path: str = UNSET
    name: str = UNSET
    priority: int | None = None
    type: str = UNSET


class CustomResourceConversion(Model):
    strategy: str = UNSET
    webhook: WebhookConversion | None = None


class CustomResourceDefinition(Resource, group="apiextensions.k8s.io", version="v1", plural="customresourcedefinitions", namespaced=False):
    spec: CustomResourceDefinitionSpec = UNSET
    status: CustomResourceDefinitionStatus = UNSET


class CustomResourceDefinitionCondition(Model):
    last_transition_time: Time | None = None
    message: str | None = None
    observed_generation: int | None = None
    reason: str | None = None
    status: str = UNSET
    type: str = UNSET


class CustomResourceDefinitionList(Kind, group="apiextensions.k8s.io", version="v1"):
    items: list[CustomResourceDefinition] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class CustomResourceDefinitionNames(Model):
    categories: list[str] = UNSET
    kind: str = UNSET
    list_kind: str | None = None
    plural: str = UNSET
    short_names: list[str] = UNSET
    singular: str | None = None


class CustomResourceDefinitionSpec(Model):
    conversion: CustomResourceConversion | None = None
    group: str = UNSET
    names: CustomResourceDefinitionNames = UNSET
    preserve_unknown_fields: bool | None = None
    scope: str = UNSET
    versions: list[CustomResourceDefinitionVersion] = UNSET


class CustomResourceDefinitionStatus(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['accepted_names'])
    accepted_names: CustomResourceDefinitionNames = UNSET
    conditions: list[CustomResourceDefinitionCondition] = UNSET
    observed_generation: int | None = None
    stored_versions: list[str] = UNSET


class CustomResourceDefinitionVersion(Model):
    additional_printer_columns: list[CustomResourceColumnDefinition] = UNSET
    deprecated: bool | None = None
    deprecation_warning: str | None = None
    name: str = UNSET
    schema: CustomResourceValidation | None = None
    selectable_fields: list[SelectableField] = UNSET
    served: bool = UNSET
    storage: bool = UNSET
    subresources: CustomResourceSubresources | None = None


class CustomResourceSubresourceScale(Model):
    label_selector_path: str | None = None
    spec_replicas_path: str = UNSET
    status_replicas_path: str = UNSET


class CustomResourceSubresourceStatus(Model):
    pass


class CustomResourceSubresources(Model):
    scale: CustomResourceSubresourceScale | None = None
    status: CustomResourceSubresourceStatus | None = None


class CustomResourceValidation(Model):
    open_api_v3_schema: JSONSchemaProps | None = field(default=None, name="openAPIV3Schema")


class ExternalDocumentation(Model):
    description: str | None = None
    url: str | None = None


class JSONSchemaProps(Model):
    ref: str | None = field(default=None, name="$ref")
    schema: str | None = field(default=None, name="$schema")
    additional_items: Any = None
    additional_properties: Any = None
    all_of: list[JSONSchemaProps] = UNSET
    any_of: list[JSONSchemaProps] = UNSET
    default: Any = None
    definitions: dict[str, JSONSchemaProps] = UNSET
    dependencies: dict[str, Any] = UNSET
    description: str | None = None
    enum: list[Any] = UNSET
    example: Any = None
    exclusive_maximum: bool | None = None
    exclusive_minimum: bool | None = None
    external_docs: ExternalDocumentation | None = None
    format: str | None = None
    id: str | None = None
    items: Any = None
    max_items: int | None = None
    max_length: int | None = None
    max_properties: int | None = None
    maximum: float | None = None
    min_items: int | None = None
    min_length: int | None = None
    min_properties: int | None = None
    minimum: float | None = None
    multiple_of: float | None = None
    not_: JSONSchemaProps | None = None
    nullable: bool | None = None
    one_of: list[JSONSchemaProps] = UNSET
    pattern: str | None = None
    pattern_properties: dict[str, JSONSchemaProps] = UNSET
    properties: dict[str, JSONSchemaProps] = UNSET
    required: list[str] = UNSET
    title: str | None = None
    type: str | None = None
    unique_items: bool | None = None
    x_kubernetes_embedded_resource: bool | None = field(default=None, name="x-kubernetes-embedded-resource")
    x_kubernetes_int_or_string: bool | None = field(default=None, name="x-kubernetes-int-or-string")
    x_kubernetes_list_map_keys: list[str] = field(default=UNSET, name="x-kubernetes-list-map-keys")
    x_kubernetes_list_type: str | None = field(default=None, name="x-kubernetes-list-type")
    x_kubernetes_map_type: str | None = field(default=None, name="x-kubernetes-map-type")
    x_kubernetes_preserve_unknown_fields: bool | None = field(default=None, name="x-kubernetes-preserve-unknown-fields")
    x_kubernetes_validations: list[ValidationRule] = field(default=UNSET, name="x-kubernetes-validations")


class SelectableField(Model):
    json_path: str = UNSET


class ServiceReference(Model):
    name: str = UNSET
    namespace: str = UNSET
    path: str | None = None
    port: int | None = None


class ValidationRule(Model):
    field_path: str | None = None
    message: str | None = None
    message_expression: str | None = None
    optional_old_self: bool | None = None
    reason: str | None = None
    rule: str = UNSET


class WebhookClientConfig(Model):
    ca_bundle: bytes | None = None
    service: ServiceReference | None = None
    url: str | None = None


class WebhookConversion(Model):
    client_config: WebhookClientConfig | None = None
    conversion_review_versions: list[str] = UNSET
