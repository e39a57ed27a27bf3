"""Mirrors collections of the API in memory: informers, their parts, and listers.

Promises: what a cache holds is a state that the server was in, and follows it whatever
happens on the way; bytes stay bytes until somebody looks, and whoever looks is handed an
object of its own. Each part has client-go's name and can be used alone.
It knows no client: what it needs of one is a `ListWatch`.
"""

from __future__ import annotations

from .changes import Change, ChangeStream, ChangeType
from .codec import CodecStats, EntryCodec
from .controller import Controller, ControllerStats, DeltaProducer
from .delta_queue import Batch, DeltaQueue, EntryTransform, KnownObjects, Process, QueueStats
from .deltas import DeltaFIFO
from .entry import Delta, DeltaType, Entry, OwnerRef
from .entry_decoder import EntryDecoder, EntryDecoderStats, Transform
from .errors import (
    IndexConflict,
    PartlyApplied,
    QueueClosed,
    Requeue,
    TransformFailed,
    UnkeyedObject,
    UnknownIndex,
)
from .expiring import ExpirationCache, ExpirationCacheStats, ExpirationPolicy, older_than
from .factory import FactoryStats, ListWatchClient, SharedInformerFactory, SyncResult, Watchable
from .handlers import HandlerStats, Registration
from .in_order import RealFIFO
from .index import NAMESPACE, Indexers, IndexFunc, IndexStats, index_func_to_key_func
from .indexer import Indexer, Store, let_go
from .informer import InformerState, InformerStats, SharedInformer
from .keeping import StorageFormat
from .key_functions import KeyFunc
from .list_watch import ListWatch, PageHead, PageStream, RawItem, RawPage, Scope
from .lister import Lister, SelectorLike
from .metrics import CACHE_METRIC_NAMES, CacheMetrics, Meter, PrometheusCacheMetrics
from .mutation import MutationCache, MutationCacheStats
from .mutation_detector import (
    CacheMutated,
    MutationDetector,
    MutationDetectorStats,
    is_detector_enabled,
)
from .outage import OutageStats
from .reflector import Reflector, Target, WatchErrorHandler
from .reflector_errors import VeryShortWatch, WatchListInconsistent
from .reflector_state import ReflectorState, ReflectorStats
from .report import CacheReport, CacheRow, cache_report
from .store import StoreStats, ThreadSafeStore
from .waiting import InformerStopped, NotSynced
from .watch_list import WatchListSupport

__all__ = [
    "CACHE_METRIC_NAMES",
    "NAMESPACE",
    "Batch",
    "CacheMetrics",
    "CacheMutated",
    "CacheReport",
    "CacheRow",
    "Change",
    "ChangeStream",
    "ChangeType",
    "CodecStats",
    "Controller",
    "ControllerStats",
    "Delta",
    "DeltaFIFO",
    "DeltaProducer",
    "DeltaQueue",
    "DeltaType",
    "Entry",
    "EntryCodec",
    "EntryDecoder",
    "EntryDecoderStats",
    "EntryTransform",
    "ExpirationCache",
    "ExpirationCacheStats",
    "ExpirationPolicy",
    "FactoryStats",
    "HandlerStats",
    "IndexConflict",
    "IndexFunc",
    "IndexStats",
    "Indexer",
    "Indexers",
    "InformerState",
    "InformerStats",
    "InformerStopped",
    "KeyFunc",
    "KnownObjects",
    "ListWatch",
    "ListWatchClient",
    "Lister",
    "Meter",
    "MutationCache",
    "MutationCacheStats",
    "MutationDetector",
    "MutationDetectorStats",
    "NotSynced",
    "OutageStats",
    "OwnerRef",
    "PageHead",
    "PageStream",
    "PartlyApplied",
    "Process",
    "PrometheusCacheMetrics",
    "QueueClosed",
    "QueueStats",
    "RawItem",
    "RawPage",
    "RealFIFO",
    "Reflector",
    "ReflectorState",
    "ReflectorStats",
    "Registration",
    "Requeue",
    "Scope",
    "SelectorLike",
    "SharedInformer",
    "SharedInformerFactory",
    "StorageFormat",
    "Store",
    "StoreStats",
    "SyncResult",
    "Target",
    "ThreadSafeStore",
    "Transform",
    "TransformFailed",
    "UnkeyedObject",
    "UnknownIndex",
    "VeryShortWatch",
    "WatchErrorHandler",
    "WatchListInconsistent",
    "WatchListSupport",
    "Watchable",
    "cache_report",
    "index_func_to_key_func",
    "is_detector_enabled",
    "let_go",
    "older_than",
]
