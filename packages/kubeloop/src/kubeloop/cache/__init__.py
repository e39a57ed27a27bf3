"""Informers: caches of API collections in memory, their parts, and listers.

Guarantees: a cache holds a state that the server was in, and follows the server through
disconnects and restarts. Objects stay bytes until they are read, and a reader owns what it
reads. Each part has its name in client-go and can be used alone.
The package needs no client: it lists and watches through a `ListWatch`.
"""

from __future__ import annotations

from .changes import Change, ChangeType
from .codec import EntryCodec
from .controller import Controller
from .delta_fifo import DeltaFIFO
from .delta_queue import Batch, DeltaQueue, KnownObjects, RealFIFO
from .entry import Delta, DeltaType, Entry, KeyFunc
from .entry_decoder import EntryDecoder, Transform
from .errors import (
    IndexConflict,
    QueueClosed,
    Requeue,
    TransformFailed,
    UnkeyedObject,
    UnknownIndex,
)
from .expiration import ExpirationCache, ExpirationPolicy, older_than
from .factory import SharedInformerFactory
from .handlers import ChangeStream, Registration
from .index import NAMESPACE, Indexers, IndexFunc, index_func_to_key_func
from .indexer import Indexer, Lister, Store
from .informer import SharedInformer
from .list_watch import ListWatch, RawEvent, RawPage, Scope, WatchStream
from .metrics import PrometheusCacheMetrics
from .mutation_cache import MutationCache
from .mutation_detector import CacheMutated, MutationDetector
from .reflector import Reflector
from .report import cache_report
from .storage import StorageFormat
from .store import ThreadSafeStore
from .waiting import InformerStopped, NotSynced

__all__ = [
    "NAMESPACE",
    "Batch",
    "CacheMutated",
    "Change",
    "ChangeStream",
    "ChangeType",
    "Controller",
    "Delta",
    "DeltaFIFO",
    "DeltaQueue",
    "DeltaType",
    "Entry",
    "EntryCodec",
    "EntryDecoder",
    "ExpirationCache",
    "ExpirationPolicy",
    "IndexConflict",
    "IndexFunc",
    "Indexer",
    "Indexers",
    "InformerStopped",
    "KeyFunc",
    "KnownObjects",
    "ListWatch",
    "Lister",
    "MutationCache",
    "MutationDetector",
    "NotSynced",
    "PrometheusCacheMetrics",
    "QueueClosed",
    "RawEvent",
    "RawPage",
    "RealFIFO",
    "Reflector",
    "Registration",
    "Requeue",
    "Scope",
    "SharedInformer",
    "SharedInformerFactory",
    "StorageFormat",
    "Store",
    "ThreadSafeStore",
    "Transform",
    "TransformFailed",
    "UnkeyedObject",
    "UnknownIndex",
    "WatchStream",
    "cache_report",
    "index_func_to_key_func",
    "older_than",
]

# For other packages of kubeloop; not public.
from .applier import DeltaApplier as DeltaApplier
from .changes import Notification as Notification
from .codec import CodecStats as CodecStats
from .delta_queue import QueueStats as QueueStats
from .entry import OwnerRef as OwnerRef
from .errors import PartlyApplied as PartlyApplied
from .factory import FactoryStats as FactoryStats
from .factory import Watchable as Watchable
from .handlers import HandlerStats as HandlerStats
from .indexer import SelectorLike as SelectorLike
from .indexer import free_in_steps as free_in_steps
from .informer import DROPPED as DROPPED
from .informer import InformerOptions as InformerOptions
from .informer import InformerState as InformerState
from .informer import InformerStats as InformerStats
from .list_watch import MessageFormat as MessageFormat
from .metrics import CACHE_METRIC_NAMES as CACHE_METRIC_NAMES
from .metrics import CacheMetrics as CacheMetrics
from .mutation_detector import is_detector_enabled as is_detector_enabled
from .outage import OutageStats as OutageStats
from .reflector import WatchErrorHandler as WatchErrorHandler
from .reflector_errors import VeryShortWatch as VeryShortWatch
from .reflector_state import ReflectorState as ReflectorState
from .report import CacheReport as CacheReport
from .report import CacheRow as CacheRow
from .waiting import has_reached as has_reached
from .watch_list import WatchListSupport as WatchListSupport
