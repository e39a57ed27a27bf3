"""The kind of most controllers in this folder: a site with a page."""

from __future__ import annotations

from kubeloop import Model, Resource
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta


class SiteSpec(Model):
    page: str = "hello"
    replicas: int = 1


class SiteStatus(Model):
    phase: str = ""
    page: str = ""  # the name of its ConfigMap


class Site(Resource, group="example.com", version="v1", plural="sites"):
    spec: SiteSpec
    status: SiteStatus | None = None


def page_of(site: Site, *, name: str = "") -> ConfigMap:
    """The ConfigMap that a site wants; it has the name of the site, unless another is given."""
    metadata = ObjectMeta(name=name or site.metadata.name, namespace=site.metadata.namespace)
    return ConfigMap(metadata=metadata, data={"page": site.spec.page})
