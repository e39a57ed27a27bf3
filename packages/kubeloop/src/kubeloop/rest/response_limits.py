"""How many bytes of a response are read, by the kind of what was requested.

Guarantees: bytes are counted after decompression; the default of every kind is finite, and
`None` is the only way to have no limit.
See also: `incoming` (counts and closes the connection), `timeouts` (the same for seconds).
"""

from __future__ import annotations

import msgspec

from kubeloop.errors import InvalidArgument

from .request import Request

__all__ = ["DEFAULT_RESPONSE_LIMITS", "RATIO_APPLIES_FROM", "ResponseLimits", "SizeLimit"]

_MIB = 2**20
# Below this size any compression ratio is harmless.
RATIO_APPLIES_FROM = 32 * _MIB
# Of these verbs the response is a list.
_LIST_VERBS = frozenset({"list", "deletecollection", "watch"})
_OBJECT_VERBS = frozenset({"get", "create", "update", "patch", "delete"})
# The responses of these subresources are not objects of the API.
_CONTENT = frozenset({"proxy", "log"})


class SizeLimit(msgspec.Struct, frozen=True, gc=False):
    """The limit of one response: `option` is the field of `ResponseLimits` it comes from."""

    option: str
    size: int | None
    ratio: int | None = None


class ResponseLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Response size limits in bytes, after decompression; None is no limit.

    error: the body of a response that is not a success.
    object: a single object, and one item of a list. etcd stores about 1.5 MiB.
    document: discovery, OpenAPI, other requests by path, and responses through a proxy.
    list: one page of a list, or a list that is read item by item.
    event: one event of a watch; a watch as a whole and a log have no limit.
    compression_ratio: how many times larger a response may become by decompression, counted
        once it is larger than 32 MiB. Lists of nearly equal objects reach about 60.
    """

    error: int | None = 4 * _MIB
    object: int | None = 64 * _MIB
    document: int | None = 256 * _MIB
    list: int | None = 4096 * _MIB
    event: int | None = 16 * _MIB
    compression_ratio: int | None = 200

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InvalidArgument(
                    f"response limit {name}={value!r}: it must be more than 0 (None is no limit)"
                )

    def for_error(self) -> SizeLimit:
        return SizeLimit("error", self.error, self.compression_ratio)

    def for_document(self) -> SizeLimit:
        return SizeLimit("document", self.document, self.compression_ratio)

    def for_success(self, request: Request) -> SizeLimit:
        """The limit for the response to `request`."""
        if request.resource is None or request.subresource.partition("/")[0] in _CONTENT:
            return self.for_document()
        is_list = request.verb in _LIST_VERBS or (
            request.verb not in _OBJECT_VERBS and not request.name
        )
        if is_list:
            return SizeLimit("list", self.list, self.compression_ratio)
        return SizeLimit("object", self.object, self.compression_ratio)


DEFAULT_RESPONSE_LIMITS = ResponseLimits()
