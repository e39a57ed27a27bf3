# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

"""The kinds of apiserverinternal v1alpha1."""

from .._generated.apiserverinternal_v1alpha1 import *
from .._generated.apiserverinternal_v1alpha1 import __all__ as __all__
