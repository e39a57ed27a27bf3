"""One life of the server: the parts that decide, put together.

Promises: nothing is opened, started or waited for here.
Elsewhere: who starts it and where it listens (`service`, `listening`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, final

from kubeloop.kit import Clock, HostGuard, Runnable

from .access.gate import Gate
from .access.security import Security
from .access.virtual import Virtual
from .builtin.allocation import Allocator
from .controllers.definitions import Definitions
from .controllers.gc import GarbageCollector
from .controllers.housekeeping import BookmarkTicker, Housekeeper
from .controllers.namespaces import Terminator
from .describe.document_handler import DocumentHandler
from .faults import Faults
from .identity import User
from .registry import Registry
from .request.calls import Call
from .seeds import born, seed
from .serving.dispatch import Dispatcher
from .serving.http import Gateway
from .serving.streaming import Streamer
from .storage.store import Change, Object, Store, timestamp
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
    """Store, verbs and everything around them, from one start to the next."""

    def __init__(
        self,
        *,
        clock: Clock,
        faults: Faults,
        security: Security,
        history: int,
        queue: int,
        guard: HostGuard | None = None,
        file: SqliteFile | None = None,
    ) -> None:
        self.clock = clock
        self.security = security
        self.file = file
        self.registry = Registry()
        self.store = Store(history=history)
        self.hub = Hub(self.store, queue=queue)
        self.gate = Gate(self.store, security, clock=clock, registry=self.registry)
        self._allocator = Allocator()
        self.store.listeners.append(self._release)
        self.verbs = Verbs(
            self.store,
            self.registry,
            clock=clock,
            admission=self.gate,
            allocator=self._allocator,
        )
        self.deleter = Deleter(self.verbs)
        self.logs = Logs(self.verbs)
        self._parts = Subresources(self.verbs, self.deleter, self.logs, issue_token=self._issue)
        self._definitions = Definitions(
            self.store, self.registry, self.deleter, self.hub, clock=clock
        )
        self._collector = GarbageCollector(self.store, self.registry, self.deleter)
        terminator = Terminator(self.store, self.registry, self.deleter)
        self.housekeeper = Housekeeper(self.store, [self._definitions, self._collector, terminator])
        self.documents = DocumentHandler(
            self.registry,
            extra={
                "/openid/v1/jwks": self._public_keys,
                "/.well-known/openid-configuration": self._issuer,
            },
        )
        self.gateway = Gateway(
            Dispatcher(
                self.registry,
                self.verbs,
                self.deleter,
                hub=self.hub,
                parts=self._parts,
                virtual=Virtual(
                    self.verbs, self.registry, security, token_reviewer=self._token_reviewer
                ),
            ),
            self.documents,
            Streamer(self.hub, self.logs, faults, clock=clock),
            faults=faults,
            security=security,
            clock=clock,
            guard=guard,
            settle=file.settle if file is not None else None,
        )

    def begin(self, before: Store | None = None) -> None:
        """Take over what an earlier life stored, and add what every cluster has."""
        if self.file is not None:
            self.file.load(self.store)
            self.store.listeners.append(self.file.observe)
        elif before is not None:
            for storage, collection in before.collections():
                for entry in collection.select(""):
                    self.store.load(storage, entry)
            self.store.advance(before.version)
        self._definitions.load()
        self._collector.load()
        for service in self.store.objects("", "services"):
            self._allocator.adopt(service)
        seed(self.store, now=timestamp(self.clock.time()))
        self.housekeeper.work()

    def parts(self, *, bookmark_period: float) -> list[Runnable]:
        """What runs as long as the server lives."""
        found: list[Runnable] = [self.housekeeper]
        found.append(BookmarkTicker(self.hub, clock=self.clock, period=bookmark_period))
        if self.file is not None:
            found.append(self.file)
        return found

    @functools.cached_property
    def accounts(self) -> ServiceAccountTokens:
        """Signs and checks the tokens of service accounts; the key is made when it is needed."""
        from .access.service_accounts import ServiceAccountTokens
        from .access.signing import SigningKey

        return ServiceAccountTokens([SigningKey()], self.store.objects, now=self.clock.time)

    def authenticate(
        self, tokens: Mapping[str, User], *, client_ca: bytes | None, anonymous: bool | None
    ) -> None:
        """Ask for credentials from now on; tokens of service accounts are good too."""
        from .access.authn import Authenticator

        self.security.authenticator = Authenticator(
            tokens=tokens, client_ca=client_ca, service_accounts=self.accounts, anonymous=anonymous
        )

    def _issue(self, call: Call, body: Object) -> Object:
        from .access.token_requests import token_request

        account = self.verbs.get(call).obj
        return token_request(
            body, account, self.accounts, self.store.objects, now=self.clock.time()
        )

    def _public_keys(self) -> Object:
        return self.accounts.keys()

    def _issuer(self) -> Object:
        return self.accounts.configuration()

    def _token_reviewer(self) -> Authenticator:
        from .access.authn import Authenticator

        return Authenticator(service_accounts=self.accounts)

    def use_roles(self) -> None:
        """Let the stored roles decide from now on; the usual ones are created."""
        from .access.bootstrap_roles import bootstrap_bindings, bootstrap_roles
        from .access.rbac import GROUP, Authorizer

        now = timestamp(self.clock.time())
        plurals = ("clusterroles", "clusterrolebindings")
        for plural, objs in zip(plurals, (bootstrap_roles(), bootstrap_bindings()), strict=True):
            for obj in objs:
                if self.store.get((GROUP, plural), obj["metadata"]["name"]) is None:
                    self.store.write((GROUP, plural), born(obj, now))
        self.security.decide_by(Authorizer(self.store.objects, version=self._roles_version))

    def _roles_version(self) -> tuple[int, ...]:
        """Changes whenever a role or a binding does."""
        plurals = ("roles", "rolebindings", "clusterroles", "clusterrolebindings")
        group = "rbac.authorization.k8s.io"
        return tuple(self.store.collection((group, plural)).latest for plural in plurals)

    def _release(self, change: Change) -> None:
        """Free the cluster address and node ports of a service that was deleted."""
        if change.storage == ("", "services") and change.new is None and change.old is not None:
            self._allocator.release(change.old.obj)
