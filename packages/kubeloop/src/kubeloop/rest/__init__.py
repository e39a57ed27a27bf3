"""HTTP to one API server: creates requests, sends them, returns responses as bytes.

Guarantees: this package returns bytes, frozen values and kubeloop's errors; it reads no files and
knows no kinds.
See also: `kubeloop.config` (configuration and credentials), `kubeloop.clients` (kinds and verbs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeloop._lazy import lazy_names

from .client import RESTClient
from .codec import Codec
from .dial import DialFunction
from .incoming import IncomingResponse
from .metrics import PrometheusMetrics
from .request import Request, path_request, resource_request, uri_request
from .response import Response
from .response_limits import ResponseLimits
from .sender import RequestSender
from .streams import ByteStream
from .timeouts import Timeouts
from .transport import RequestHook, SendRequest
from .warnings import ServerWarning, WarningHandler, WarningWriter, ignore_warnings
from .watch import Watch

# For other packages of kubeloop; not public.
# isort: split
from .client import RESTStats as RESTStats
from .codec import JsonCodec as JsonCodec
from .codec import is_for_json as is_for_json
from .connections import KEEP_ALIVE as KEEP_ALIVE
from .frames import FRAME_LIMIT as FRAME_LIMIT
from .frames import EventFrames as EventFrames
from .limits import DEFAULT_BURST as DEFAULT_BURST
from .limits import DEFAULT_QPS as DEFAULT_QPS
from .limits import limiter_of as limiter_of
from .list_splitter import ListSplitter as ListSplitter
from .metrics import METRIC_NAMES as METRIC_NAMES
from .metrics import url_template as url_template
from .query import Params as Params
from .query import encode_query as encode_query
from .query import query_options as query_options
from .request import APPLY_PATCH as APPLY_PATCH
from .request import APPLY_PATCH_CBOR as APPLY_PATCH_CBOR
from .request import JSON as JSON
from .request import JSON_PATCH as JSON_PATCH
from .request import MERGE_PATCH as MERGE_PATCH
from .request import STRATEGIC_MERGE_PATCH as STRATEGIC_MERGE_PATCH
from .request import Headers as Headers
from .request import api_path as api_path
from .request import header_pairs as header_pairs
from .response import error_of as error_of
from .response import is_success as is_success
from .retry import MAX_RETRIES as MAX_RETRIES
from .retry import TRANSPORT_DELAY as TRANSPORT_DELAY
from .retry import RequestSpacing as RequestSpacing
from .retry import UrlBackoff as UrlBackoff
from .streams import ItemStream as ItemStream
from .user_agent import default_user_agent as default_user_agent
from .user_agent import user_agent as user_agent
from .warnings import WarningLog as WarningLog
from .warnings import parse_warnings as parse_warnings
from .watch import LONGEST_WATCH as LONGEST_WATCH
from .watch import SHORTEST_WATCH as SHORTEST_WATCH
from .watch import WatchEnd as WatchEnd

if TYPE_CHECKING:
    from .resuming_watch import ResumingWatch
    from .websocket import WebSocket

    # isort: split
    # For other packages of kubeloop; not public.
    from .fetch_url import fetch as fetch
    from .resuming_watch import RESUME_BACKOFF as RESUME_BACKOFF
    from .resuming_watch import RESUME_INTERVAL as RESUME_INTERVAL
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".fetch_url": "fetch",
            ".resuming_watch": "RESUME_BACKOFF RESUME_INTERVAL ResumingWatch",
            ".websocket": "WebSocket",
        },
    )

__all__ = [
    "ByteStream",
    "Codec",
    "DialFunction",
    "IncomingResponse",
    "PrometheusMetrics",
    "RESTClient",
    "Request",
    "RequestHook",
    "RequestSender",
    "Response",
    "ResponseLimits",
    "ResumingWatch",
    "SendRequest",
    "ServerWarning",
    "Timeouts",
    "WarningHandler",
    "WarningWriter",
    "Watch",
    "WebSocket",
    "ignore_warnings",
    "path_request",
    "resource_request",
    "uri_request",
]
