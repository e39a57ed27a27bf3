"""Every error that kubeloop raises on purpose, under one root: `KubeError`.

Three families by when they occur: `ConfigError` before the request, `TransportError` while
it is sent, `ApiError` after the response; `InvalidArgument` is a value that breaks a rule of
the API. `tree` shows all of them.
See also: retries (`kubeloop.rest`), errors of one package (`kubeloop.patches.PatchError`,
`kubeloop.discovery.NoMatch`, ...).
"""

from __future__ import annotations

from kubeloop.meta.owners import AlreadyOwned

from .extras import import_extra as import_extra  # for packages of kubeloop; not public
from .statuses import Cause
from .tree import (
    AlreadyExists,
    ApiError,
    BadRequest,
    ClientClosed,
    ConfigError,
    Conflict,
    ConnectError,
    DecodeError,
    Expired,
    Forbidden,
    Gone,
    InFlightTimeout,
    InternalError,
    Invalid,
    InvalidArgument,
    KubeError,
    MethodNotAllowed,
    NotAcceptable,
    NotFound,
    RequestEntityTooLarge,
    ResponseTooLarge,
    ServerTimeout,
    ServiceUnavailable,
    StorageReadError,
    StreamBroken,
    Timeout,
    TimeoutExceeded,
    TooManyRequests,
    TransportError,
    Unauthorized,
    UnexpectedObject,
    UnsupportedMediaType,
    causes_of,
    find_api_error,
    has_cause,
    is_api_error,
    status_of_error,
    suggested_delay,
)

__all__ = [
    "AlreadyExists",
    "AlreadyOwned",
    "ApiError",
    "BadRequest",
    "Cause",
    "ClientClosed",
    "ConfigError",
    "Conflict",
    "ConnectError",
    "DecodeError",
    "Expired",
    "Forbidden",
    "Gone",
    "InFlightTimeout",
    "InternalError",
    "Invalid",
    "InvalidArgument",
    "KubeError",
    "MethodNotAllowed",
    "NotAcceptable",
    "NotFound",
    "RequestEntityTooLarge",
    "ResponseTooLarge",
    "ServerTimeout",
    "ServiceUnavailable",
    "StorageReadError",
    "StreamBroken",
    "Timeout",
    "TimeoutExceeded",
    "TooManyRequests",
    "TransportError",
    "Unauthorized",
    "UnexpectedObject",
    "UnsupportedMediaType",
    "causes_of",
    "find_api_error",
    "has_cause",
    "is_api_error",
    "status_of_error",
    "suggested_delay",
]

# For other packages of kubeloop; not public.
from .hidden_values import values_in as values_in
from .statuses import CODES as CODES
from .statuses import error_from_event as error_from_event
from .statuses import failure as failure
from .statuses import status_from_object as status_from_object
from .statuses import status_from_response as status_from_response
from .tree import api_error as api_error
