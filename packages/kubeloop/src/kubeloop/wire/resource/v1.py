# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

"""The kinds of resource v1."""

from .._generated.resource_v1 import *
from .._generated.resource_v1 import __all__ as __all__
