"""docs/how-to/from-client-go.md maps the words of client-go to names that exist."""

from __future__ import annotations

import builtins
import importlib
import inspect
import keyword
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import kubeloop
from kubeloop.cache import QueueStats
from kubeloop.wire.apps.v1 import Deployment
from kubeloop_testing.server.faults import Faults

PAGE = (Path(__file__).parent.parent / "docs/how-to/from-client-go.md").read_text(encoding="utf-8")

# Words of common notes on client-go, by package, including private names that people search for.
WORDS = re.findall(
    r"\w+",
    """
BuildConfigFromFlags InClusterConfig NewForConfig RESTClientFor UnversionedRESTClientFor RESTClient
Verb Resource Name Do AbsPath RequestURI VersionedParams GetRateLimiter QPS Burst
UpdateStatus DeleteCollection Scales ListWithAlloc EachListItem
DiscoveryClient ServerGroups ServerGroupsAndResources ServerPreferredResources
ServerResourcesForGroupVersion NewDeferredDiscoveryRESTMapper NewMemCacheClient
ListWatch ListFunc WatchFunc NewListWatchFromClient TweakListOptions
MetaNamespaceKeyFunc DeletionHandlingMetaNamespaceKeyFunc SplitMetaNamespaceKey KeyFunc ExplicitKey
Store NewStore GetByKey ListKeys Indexer NewIndexer Indexers IndexFunc Index Indices
ByIndex IndexKeys ListIndexFuncValues AddIndexers MetaNamespaceIndexFunc NamespaceIndex
ThreadSafeStore threadSafeMap
DeltaFIFO NewDeltaFIFOWithOptions KnownObjects EmitDeltaTypeReplaced Transformer RealFIFO Queue
Delta Deltas DeltaType Oldest Newest Pop PopProcessFunc ErrRequeue AddIfNotPresent ErrFIFOClosed
HasSynced initialPopulationCount Replace Resync Close
Reflector ListAndWatch LastSyncResourceVersion
Controller Config ListerWatcher Process ObjectType FullResyncPeriod ShouldResync RetryOnError
WatchErrorHandler processLoop HandleDeltas
NewSharedIndexInformer NewInformer NewIndexerInformer NewSharedInformerFactory WaitForCacheSync
AddEventHandler AddEventHandlerWithResyncPeriod ResourceEventHandlerFuncs
FilteringResourceEventHandler OnAdd OnUpdate isInInitialList RemoveEventHandler
DeletedFinalStateUnknown SetTransform SetWatchErrorHandler
sharedProcessor processorListener pendingNotifications addCh nextCh
NewTTLStore ExpirationCache MutationCache KUBE_CACHE_MUTATION_DETECTOR
Interface Add Len Get Done ShutDown ShuttingDown ShutDownWithDrain
DelayingInterface AddAfter RateLimitingInterface AddRateLimited Forget NumRequeues
RateLimiter When BucketRateLimiter ItemExponentialFailureRateLimiter ItemFastSlowRateLimiter
NewItemExponentialFailureRateLimiter NewItemFastSlowRateLimiter
MaxOfRateLimiter NewMaxOfRateLimiter DefaultControllerRateLimiter
NewBroadcaster Shutdown StartLogging StartStructuredLogging StartRecordingToSink StartEventWatcher
broadcasterWatcher NewRecorder EventSource Event Eventf PastEventf AnnotatedEventf EventSink
EventCorrelator DropIfChannelFull WaitIfChannelFull FakeRecorder
RunOrDie LeaderElectionConfig LeaseLock OnStartedLeading OnStoppedLeading OnNewLeader
Until JitterUntil BackoffUntil Group StartWithChannel RetryOnConflict
NewSimpleClientset PrependReactor
DeltaFIFOOptions ReflectorOptions NewReflectorWithOptions ProcessFunc ShouldResyncFunc
AddFunc UpdateFunc DeleteFunc NewFilteredPodInformer SimplePageFunc DeploymentInterface HandleCrash
ExtractList KeyOf DynamicClient ScaleClient ResourceEventHandler OnDelete SharedIndexInformer
ListPager PatchType
""",
)

# Words in the second column that are the reader's names, or examples.
EXAMPLES = frozenset(
    re.findall(
        r"\w+",
        """
    ConfigMap Deployment Event Pod Website
    asyncio TaskGroup aclosing contextlib ctx delta envtest f kube kube_client kube_server leases logger ns pods reconcile
    registration response runnable site tasks webhooks
    """,
    )
)


class Row(NamedTuple):
    """A row of a table; `code` is the second column's code without strings."""

    client_go: str
    code: str
    modules: tuple[str, ...]


def rows() -> Iterator[Row]:
    for line in re.findall(r"^\| .* \|$", PAGE, re.MULTILINE):
        there, here, source = (cell.strip() for cell in line.strip("|").split(" |"))
        if source != "import from":
            code = re.sub(r'"[^"]*"', "", _code(here))
            yield Row(_code(there), code, tuple(re.findall(r"kubeloop[.\w]*", source)))


def _code(text: str) -> str:
    return " ".join(re.findall(r"`([^`]+)`", text))


def exported(module: str) -> frozenset[str]:
    return frozenset(importlib.import_module(module).__all__)


@cache
def known_names() -> frozenset[str]:
    """All public names, the attributes of the classes of a package, and the parameters of both."""
    packages = [each.name for each in pkgutil.iter_modules(kubeloop.__path__) if each.ispkg]
    names = {"kubeloop", "kubeloop_testing", *packages}
    for module in ["kubeloop", "kubeloop_testing", *(f"kubeloop.{name}" for name in packages)]:
        names |= exported(module)
        loaded = importlib.import_module(module)
        for name in exported(module):
            found = getattr(loaded, name)
            names |= _parameters(found)
            names |= _members(found) if isinstance(found, type) else set()
    return frozenset(
        names | _members(Faults) | _members(QueueStats) | {f"{Deployment.__name__.lower()}s"}
    )


def _members(found: type) -> set[str]:
    names = {name for name in dir(found) if not name.startswith("_")}
    parameters = {each for name in names for each in _parameters(getattr(found, name, None))}
    # Attributes that only a constructor sets, such as the indexer of an informer.
    source = inspect.getsource(found) if found.__module__.startswith("kubeloop") else ""
    return names | parameters | set(re.findall(r"\bself\.([a-z]\w*)\b", source))


def _parameters(found: object) -> set[str]:
    try:
        parameters = inspect.signature(found).parameters if callable(found) else {}
    except (TypeError, ValueError):  # of a builtin
        return set()
    return set(parameters) | {
        name for each in parameters.values() for name in _unpacked(found, str(each.annotation))
    }


def _unpacked(found: object, annotation: str) -> set[str]:
    """The keywords of `**options: Unpack[SomeOptions]`."""
    options = re.match(r"Unpack\[(\w+)", annotation)
    if options is None:
        return set()
    module = inspect.getmodule(found)
    return set(getattr(getattr(module, options[1], None), "__annotations__", {}))


def test_every_word_of_client_go_is_on_the_page() -> None:
    on_the_page = {word for row in rows() for word in re.findall(r"\w+", row.client_go)}

    assert len(set(WORDS)) >= 84
    assert set(WORDS) - on_the_page == set()


def test_every_name_that_stands_for_a_word_of_client_go_exists() -> None:
    allowed = known_names() | EXAMPLES | set(keyword.kwlist) | set(dir(builtins))

    unknown = {word for row in rows() for word in re.findall(r"[A-Za-z_]\w*", row.code)} - allowed

    assert unknown == set()


def test_every_name_can_be_imported_from_where_its_row_says() -> None:
    problems = []
    for row in rows():
        names = set(re.findall(r"[A-Za-z_]\w*", row.code))
        problems += [
            f"{row.client_go}: nothing of it is in {module}"
            for module in row.modules
            if not names & exported(module)
        ]
        # What begins with a capital is a class or a constant; the reader has to import it.
        needed = set(re.findall(r"(?<![.\w])[A-Z]\w+", row.code)) - EXAMPLES - set(dir(builtins))
        found = {name for module in row.modules for name in exported(module)}
        problems += [f"{row.client_go}: {name} is imported from?" for name in needed - found]

    assert sorted(problems) == []


def test_every_dotted_name_on_the_page_exists() -> None:
    found = set(re.findall(r"`(kubeloop(?:\.\w+)*)`", PAGE))

    assert {name for name in found if not _exists(name)} == set()


def _exists(dotted: str) -> bool:
    try:
        importlib.import_module(dotted)
    except ModuleNotFoundError:
        module, _, name = dotted.rpartition(".")
        return hasattr(importlib.import_module(module), name)
    return True
