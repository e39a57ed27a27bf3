# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

"""The kinds of autoscaling v2."""

from .._generated.autoscaling_v2 import *
from .._generated.autoscaling_v2 import __all__ as __all__
