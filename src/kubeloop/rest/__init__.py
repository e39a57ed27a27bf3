"""HTTP to one API server: requests built pure, one transport, answers as bytes.

Promises: what leaves this room is bytes, frozen values and our own errors; no file is
read here and no kind is known.
Elsewhere: configuration and credentials (`kubeloop.config`), kinds and verbs
(`kubeloop.clients`).
"""

from __future__ import annotations

from .client import RESTClient, RESTStats
from .codec import Codec, EventReader, JsonCodec
from .connections import KEEP_ALIVE
from .fetch_url import fetch
from .frames import FRAME_LIMIT, EventFrames
from .limits import DEFAULT_BURST, DEFAULT_QPS, IN_FLIGHT, limiter_of
from .list_splitter import ListSplitter
from .metrics import METRIC_NAMES, PrometheusMetrics, RequestMetrics, url_template
from .query import Params, encode_query, query_options
from .request import (
    APPLY_PATCH,
    APPLY_PATCH_CBOR,
    JSON,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
    Headers,
    Request,
    api_path,
    path_request,
    resource_request,
    uri_request,
)
from .response import Response, error_of, is_success
from .response_limits import ResponseLimits
from .resuming_watch import RESUME_BACKOFF, RESUME_INTERVAL, ResumingStats, ResumingWatch
from .retry import MAX_RETRIES, TRANSPORT_DELAY, UrlBackoff
from .sender import RequestSender
from .streams import ByteStream, ItemStream
from .timeouts import DEFAULT_TIMEOUTS, Timeouts
from .tracing import RequestTracer, Span
from .user_agent import default_user_agent, user_agent
from .warnings import (
    ServerWarning,
    WarningHandler,
    WarningLog,
    WarningWriter,
    ignore_warnings,
    parse_warnings,
)
from .watch import LONGEST_WATCH, SHORTEST_WATCH, Watch, WatchEnd, WatchStats

__all__ = [
    "APPLY_PATCH",
    "APPLY_PATCH_CBOR",
    "DEFAULT_BURST",
    "DEFAULT_QPS",
    "DEFAULT_TIMEOUTS",
    "FRAME_LIMIT",
    "IN_FLIGHT",
    "JSON",
    "JSON_PATCH",
    "KEEP_ALIVE",
    "LONGEST_WATCH",
    "MAX_RETRIES",
    "MERGE_PATCH",
    "METRIC_NAMES",
    "RESUME_BACKOFF",
    "RESUME_INTERVAL",
    "SHORTEST_WATCH",
    "STRATEGIC_MERGE_PATCH",
    "TRANSPORT_DELAY",
    "ByteStream",
    "Codec",
    "EventFrames",
    "EventReader",
    "Headers",
    "ItemStream",
    "JsonCodec",
    "ListSplitter",
    "Params",
    "PrometheusMetrics",
    "RESTClient",
    "RESTStats",
    "Request",
    "RequestMetrics",
    "RequestSender",
    "RequestTracer",
    "Response",
    "ResponseLimits",
    "ResumingStats",
    "ResumingWatch",
    "ServerWarning",
    "Span",
    "Timeouts",
    "UrlBackoff",
    "WarningHandler",
    "WarningLog",
    "WarningWriter",
    "Watch",
    "WatchEnd",
    "WatchStats",
    "api_path",
    "default_user_agent",
    "encode_query",
    "error_of",
    "fetch",
    "ignore_warnings",
    "is_success",
    "limiter_of",
    "parse_warnings",
    "path_request",
    "query_options",
    "resource_request",
    "uri_request",
    "url_template",
    "user_agent",
]
