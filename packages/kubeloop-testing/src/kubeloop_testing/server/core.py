"""The parts of one run of the server, wired together.

Guarantees: a `Core` is complete when it is constructed: no part is assigned or replaced afterwards.
Constructing it opens no file and no socket and starts no task.
See also: `service` (starts and stops it), `serving.listening` (the listener).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, final

import msgspec

from kubeloop.kit import Clock, HostGuard, Runnable

from .access.flow_control import FlowControl
from .access.security import Security
from .access.virtual import VirtualResources
from .admission.chain import AdmissionChain
from .controllers.definitions import DefinitionController
from .controllers.flow_schemas import FlowSchemaController
from .controllers.gc import GarbageCollector
from .controllers.manager import BookmarkTicker, ControllerManager
from .controllers.namespaces import NamespaceController
from .controllers.protection import ProtectionController
from .describe.document_handler import DocumentHandler
from .faults import Faults
from .identity import Objects, User
from .kinds.core.allocation import Allocator
from .kubelet.programs import Programs
from .registry import Registry
from .request.negotiation import JSON
from .runtime_config import IsEnabled, served_by_default
from .seeds import seed, with_new_identity
from .serving.dispatch import Dispatcher
from .serving.http import HTTPHandler
from .serving.streaming import Streamer
from .storage.store import Change, Object, Store, timestamp
from .verbs.containers import Containers
from .verbs.deletion import Deleter
from .verbs.logs import Logs
from .verbs.subresources import Subresources
from .verbs.writing import Verbs
from .watching import Hub

if TYPE_CHECKING:
    from .access.authn import Authenticator
    from .access.rbac import Authorizer
    from .access.service_accounts import ServiceAccountTokens
    from .sqlite import SqliteFile

__all__ = ["AccessOptions", "Core"]


@final
class AccessOptions(msgspec.Struct, frozen=True):
    """Which credentials requests need, and who decides what they may do."""

    tokens: Mapping[str, User] | None = None  # None: every request is the administrator's
    client_ca: bytes | None = None
    anonymous: bool = True
    rbac: bool = False  # authorize by the stored roles


@final
class ServiceAccounts:
    """Issues and verifies service account tokens; the key is generated on first use."""

    def __init__(self, objects: Objects, *, clock: Clock) -> None:
        self._objects = objects
        self._clock = clock

    @functools.cached_property
    def tokens(self) -> ServiceAccountTokens:
        from .access.service_accounts import ServiceAccountTokens
        from .access.signing import SigningKey

        # Generating a key imports `cryptography`, which takes longer than starting the server.
        return ServiceAccountTokens([SigningKey()], self._objects, now=self._clock.time)

    def issue_token(self, account: Object, body: Object) -> Object:
        """Carry out a TokenRequest. Raises `StatusError`."""
        from .access.token_requests import token_request

        return token_request(body, account, self.tokens, self._objects, now=self._clock.time())

    def authenticator(self) -> Authenticator:
        """For TokenReviews on a server without credentials."""
        from .access.authn import Authenticator

        return Authenticator(service_accounts=self.tokens)

    def public_keys(self) -> Object:
        return self.tokens.keys()

    def configuration(self) -> Object:
        return self.tokens.configuration()


@final
class Core:
    """Store, verbs, controllers and handlers, from one start of the server to the next."""

    def __init__(
        self,
        *,
        clock: Clock,
        faults: Faults,
        programs: Programs,
        history: int,
        queue: int,
        access: AccessOptions,
        is_enabled: IsEnabled = served_by_default,
        guard: HostGuard | None = None,
        file: SqliteFile | None = None,
    ) -> None:
        self.clock = clock
        self.file = file
        self._has_roles = access.rbac
        self.registry = Registry(is_enabled)
        self.store = Store(history=history)
        # The hub subscribes before the controllers: watches get the event of a write before the
        # events of its effects, in the order of versions.
        self.hub = Hub(self.store, queue=queue)
        # In the same step as the Service is written or removed, so that the next write finds free
        # what it released.
        self._allocator = Allocator()
        update_addresses = functools.partial(_update_addresses, self._allocator)
        self.store.subscribe(update_addresses, ("", "services"))
        accounts = ServiceAccounts(self.store.objects, clock=clock)
        self.security = _security(access, self.store, accounts)
        self.verbs = Verbs(
            self.store,
            self.registry,
            clock=clock,
            admission=AdmissionChain(
                self.store, self.security, clock=clock, registry=self.registry
            ),
            allocator=self._allocator,
        )
        self.deleter = Deleter(self.verbs)
        self.logs = Logs(self.verbs)
        self.containers = Containers(self.verbs, self.logs)
        self._definitions = DefinitionController(
            self.store, self.registry, self.deleter, self.hub, clock=clock
        )
        self._collector = GarbageCollector(self.store, self.registry, self.deleter)
        self.controller_manager = ControllerManager(
            self.store,
            [
                self._definitions,
                self._collector,
                ProtectionController(self.store),
                FlowSchemaController(self.store, self.registry, clock=clock),
                NamespaceController(self.store, self.registry, self.deleter),
            ],
        )
        self.http_handler = HTTPHandler(
            self._dispatcher(accounts),
            Streamer(self.hub, self.logs, faults, clock=clock),
            programs=programs,
            logs=self.logs,
            faults=faults,
            security=self.security,
            flow_control=FlowControl(self.store),
            clock=clock,
            guard=guard,
            settle=file.settle if file is not None else None,
        )

    def _dispatcher(self, accounts: ServiceAccounts) -> Dispatcher:
        return Dispatcher(
            self.registry,
            self.verbs,
            self.deleter,
            hub=self.hub,
            subresources=Subresources(
                self.verbs, self.deleter, self.logs, issue_token=accounts.issue_token
            ),
            virtual=VirtualResources(
                self.verbs, self.registry, self.security, token_reviewer=accounts.authenticator
            ),
            documents=DocumentHandler(
                self.registry,
                self.store,
                extra={
                    "/openid/v1/jwks": ("application/jwk-set+json", accounts.public_keys),
                    "/.well-known/openid-configuration": (JSON, accounts.configuration),
                },
            ),
        )

    def load(self, before: Store | None = None) -> None:
        """Load the objects of the file or of an earlier run, and create those of a new cluster."""
        # A file is the state; without one, a restart takes over the store of the last run.
        if self.file is not None:
            self.file.load(self.store)
            self.store.subscribe(self.file.observe)
        elif before is not None:
            for storage, collection in before.collections():
                for entry in collection.select(""):
                    self.store.load(storage, entry)
            self.store.advance(before.version)
        # CRDs first: the other controllers look up the resources of stored objects.
        self._definitions.load()
        self._collector.load()
        for service in self.store.objects("", "services"):
            self._allocator.adopt(service)
        now = timestamp(self.clock.time())
        seed(self.store, self.registry, now=now)
        self.controller_manager.work()
        if self._has_roles:
            _seed_roles(self.store, now=now)

    def runnables(self, *, bookmark_period: float) -> list[Runnable]:
        """The background tasks of the server."""
        found: list[Runnable] = [self.controller_manager]
        found.append(BookmarkTicker(self.hub, clock=self.clock, period=bookmark_period))
        if self.file is not None:
            found.append(self.file)
        return found


def _security(access: AccessOptions, store: Store, accounts: ServiceAccounts) -> Security:
    authenticator: Authenticator | None = None
    authorizer: Authorizer | None = None
    if access.tokens is not None:
        from .access.authn import Authenticator

        authenticator = Authenticator(
            tokens=access.tokens,
            client_ca=access.client_ca,
            service_accounts=accounts.tokens,
            anonymous=access.anonymous,
        )
    if access.rbac:
        from .access.rbac import Authorizer

        version = functools.partial(_roles_version, store)
        authorizer = Authorizer(store.objects, version=version)
    return Security(authenticator=authenticator, authorizer=authorizer)


def _roles_version(store: Store) -> tuple[int, ...]:
    """A value that changes with every role and binding: the key of the authorizer's cache."""
    plurals = ("roles", "rolebindings", "clusterroles", "clusterrolebindings")
    group = "rbac.authorization.k8s.io"
    return tuple(store.collection((group, plural)).latest for plural in plurals)


def _seed_roles(store: Store, *, now: str) -> None:
    """Create the bootstrap roles that are missing."""
    from .access.bootstrap_roles import bootstrap_bindings, bootstrap_roles
    from .access.rbac import GROUP
    from .values.zero_values import complete

    plurals = ("clusterroles", "clusterrolebindings")
    for plural, objs in zip(plurals, (bootstrap_roles(), bootstrap_bindings()), strict=True):
        for obj in objs:
            if store.get((GROUP, plural), obj["metadata"]["name"]) is None:
                store.write((GROUP, plural), complete(with_new_identity(obj, now)))


def _update_addresses(allocator: Allocator, change: Change) -> None:
    """Release the cluster address and node ports that a Service had, and adopt its new ones."""
    if change.old is not None:
        allocator.release(change.old.obj)
    if change.new is not None:
        allocator.adopt(change.new.obj)
