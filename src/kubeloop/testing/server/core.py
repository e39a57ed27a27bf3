"""The parts of one run of the server, wired together.

Guarantees: constructing a `Core` opens no file and no socket and starts no task.
See also: `service` (starts and stops it), `serving.listening` (the listener).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, final

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
from .identity import User
from .kinds.core.allocation import Allocator
from .kubelet.programs import Programs
from .registry import Registry
from .request.calls import Call
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
    from .access.service_accounts import ServiceAccountTokens
    from .sqlite import SqliteFile

__all__ = ["Core"]


@final
class Core:
    """Store, verbs, controllers and handlers, from one start of the server to the next."""

    def __init__(
        self,
        *,
        clock: Clock,
        faults: Faults,
        programs: Programs,
        security: Security,
        history: int,
        queue: int,
        is_enabled: IsEnabled = served_by_default,
        guard: HostGuard | None = None,
        file: SqliteFile | None = None,
    ) -> None:
        self.clock = clock
        self.security = security
        self.file = file
        # The hub subscribes before the controllers: watches get the event of a write before the
        # events of its effects, in the order of versions.
        self.registry = Registry(is_enabled)
        self.store = Store(history=history)
        self.hub = Hub(self.store, queue=queue)
        # In the same step as the Service is written or removed, so that the next write finds free
        # what it released.
        self._allocator = Allocator()
        self.store.subscribe(self._update_addresses, ("", "services"))
        self.verbs = Verbs(
            self.store,
            self.registry,
            clock=clock,
            admission=AdmissionChain(self.store, security, clock=clock, registry=self.registry),
            allocator=self._allocator,
        )
        self.deleter = Deleter(self.verbs)
        self.logs = Logs(self.verbs)
        self.containers = Containers(self.verbs, self.logs)
        self._definitions = DefinitionController(
            self.store, self.registry, self.deleter, self.hub, clock=clock
        )
        self._collector = GarbageCollector(self.store, self.registry, self.deleter)
        namespaces = NamespaceController(self.store, self.registry, self.deleter)
        self.controller_manager = ControllerManager(
            self.store,
            [
                self._definitions,
                self._collector,
                ProtectionController(self.store),
                FlowSchemaController(self.store, self.registry, clock=clock),
                namespaces,
            ],
        )
        documents = DocumentHandler(
            self.registry,
            extra={
                "/openid/v1/jwks": ("application/jwk-set+json", self._public_keys),
                "/.well-known/openid-configuration": (JSON, self._issuer),
            },
            metrics=self._metrics,
        )
        self.http_handler = HTTPHandler(
            Dispatcher(
                self.registry,
                self.verbs,
                self.deleter,
                hub=self.hub,
                subresources=Subresources(
                    self.verbs, self.deleter, self.logs, issue_token=self._issue_token
                ),
                virtual=VirtualResources(
                    self.verbs, self.registry, security, token_reviewer=self._token_reviewer
                ),
                documents=documents,
            ),
            Streamer(self.hub, self.logs, faults, clock=clock),
            programs=programs,
            logs=self.logs,
            faults=faults,
            security=security,
            flow_control=FlowControl(self.store),
            clock=clock,
            guard=guard,
            settle=file.settle if file is not None else None,
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
        seed(self.store, self.registry, now=timestamp(self.clock.time()))
        self.controller_manager.work()

    def runnables(self, *, bookmark_period: float) -> list[Runnable]:
        """The background tasks of the server."""
        found: list[Runnable] = [self.controller_manager]
        found.append(BookmarkTicker(self.hub, clock=self.clock, period=bookmark_period))
        if self.file is not None:
            found.append(self.file)
        return found

    @functools.cached_property
    def accounts(self) -> ServiceAccountTokens:
        """Issues and verifies service account tokens; the key is generated on first use."""
        from .access.service_accounts import ServiceAccountTokens
        from .access.signing import SigningKey

        # Generating a key imports `cryptography`, which takes longer than starting the server.
        return ServiceAccountTokens([SigningKey()], self.store.objects, now=self.clock.time)

    def authenticate(
        self, tokens: Mapping[str, User], *, client_ca: bytes | None, anonymous: bool
    ) -> None:
        """Require credentials from now on; service account tokens are accepted, too."""
        from .access.authn import Authenticator

        self.security.authenticator = Authenticator(
            tokens=tokens, client_ca=client_ca, service_accounts=self.accounts, anonymous=anonymous
        )

    def _issue_token(self, call: Call, body: Object) -> Object:
        from .access.token_requests import token_request

        account = self.verbs.get(call).obj
        return token_request(
            body, account, self.accounts, self.store.objects, now=self.clock.time()
        )

    def _public_keys(self) -> Object:
        return self.accounts.keys()

    def _issuer(self) -> Object:
        return self.accounts.configuration()

    def _metrics(self) -> str:
        from .describe.metrics import metrics_text

        found = self.store.collections()
        return metrics_text((*storage, len(each.select(""))) for storage, each in found)

    def _token_reviewer(self) -> Authenticator:
        from .access.authn import Authenticator

        return Authenticator(service_accounts=self.accounts)

    def use_roles(self) -> None:
        """Authorize by the stored roles from now on; the bootstrap roles are created."""
        from .access.bootstrap_roles import bootstrap_bindings, bootstrap_roles
        from .access.rbac import GROUP, Authorizer
        from .values.zero_values import complete

        now = timestamp(self.clock.time())
        plurals = ("clusterroles", "clusterrolebindings")
        for plural, objs in zip(plurals, (bootstrap_roles(), bootstrap_bindings()), strict=True):
            for obj in objs:
                if self.store.get((GROUP, plural), obj["metadata"]["name"]) is None:
                    self.store.write((GROUP, plural), complete(with_new_identity(obj, now)))
        self.security.decide_by(Authorizer(self.store.objects, version=self._roles_version))

    def _roles_version(self) -> tuple[int, ...]:
        """A value that changes with every role and binding: the key of the authorizer's cache."""
        plurals = ("roles", "rolebindings", "clusterroles", "clusterrolebindings")
        group = "rbac.authorization.k8s.io"
        return tuple(self.store.collection((group, plural)).latest for plural in plurals)

    def _update_addresses(self, change: Change) -> None:
        """Release the cluster address and node ports that a Service had, and adopt its new ones."""
        if change.old is not None:
            self._allocator.release(change.old.obj)
        if change.new is not None:
            self._allocator.adopt(change.new.obj)
