# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

"""The kinds of coordination v1alpha2."""

from .._generated.coordination_v1alpha2 import *
from .._generated.coordination_v1alpha2 import __all__ as __all__
