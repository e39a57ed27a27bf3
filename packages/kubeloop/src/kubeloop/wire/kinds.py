"""The base class of every kind with metadata."""

from __future__ import annotations

from ._generated.meta_v1 import ObjectMeta
from .model import UNSET, Kind

__all__ = ["Resource"]


class Resource(Kind):
    """A kind of the API, built in or your own.

    ```python
    class WebsiteSpec(Model):
        image: str
        replicas: int = 1


    class Website(Resource, group="example.com", version="v1", plural="websites"):
        spec: WebsiteSpec
    ```
    """

    metadata: ObjectMeta = UNSET
