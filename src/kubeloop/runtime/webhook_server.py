"""Answers admission and conversion reviews with functions of typed objects.

Promises: a function that fails or hangs is a no that says so, and a line in the log with the
object's key; what is no review is refused. The certificate follows its files. It needs no
manager, and no client. `run()` ends after every review that it has begun, also after those whose
caller has hung up.
Elsewhere: what reviews say (`admission`, `conversion`), certificates (`certificates`), what
tells the API server to ask (`webhook_configurations`).
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar, final

import msgspec

from kubeloop.errors import InvalidArgument
from kubeloop.kit import Clock, SystemClock, TaskOwner, is_cancelling
from kubeloop.wire import Resource, get_logger, resource_of
from kubeloop.wire.admissionregistration.v1 import (
    MutatingWebhookConfiguration,
    ServiceReference,
    ValidatingWebhookConfiguration,
)
from kubeloop.wire.apiextensions.v1 import CustomResourceConversion

from .admission import (
    AdmissionRequest,
    Asked,
    Denied,
    Operation,
    allowed,
    denied,
    key_of,
    objects_of,
    patch_between,
    read_review,
)
from .certificates import ServingCertificate
from .conversion import Conversions
from .endpoints import Page, address_of, serving
from .outcomes import words
from .webhook_configurations import Rule, Way, configurations, conversion, default_path

__all__ = ["CONVERT_PATH", "REVIEW_TIMEOUT", "WebhookServer", "WebhookStats"]

R = TypeVar("R", bound=Resource)
S = TypeVar("S", bound=Resource)
log = get_logger(__name__)

REVIEW_TIMEOUT: Final = 10.0
"""Seconds that one function may take; what the API server waits for by default."""
CONVERT_PATH: Final = "/convert"
LOOK_EVERY: Final = 10.0
"""Seconds between two looks at the certificate's files."""
_LARGEST: Final = 16 << 20  # a review holds an object twice

Validate: TypeAlias = Callable[[R, AdmissionRequest[R]], Awaitable[None] | None]
Mutate: TypeAlias = Callable[[R, AdmissionRequest[R]], Awaitable[R | None] | R | None]
Review: TypeAlias = Callable[[Asked, list[str]], Awaitable[bytes]]  # and warnings, to be added to


class WebhookStats(msgspec.Struct, frozen=True):
    """What was answered so far."""

    address: str
    allowed: int
    denied: int
    failed: int
    converted: int


class _Hook(msgspec.Struct, frozen=True):
    """One path, and who answers there."""

    rule: Rule
    answer: Review


@final
class WebhookServer:
    """A server for webhooks; functions are added before `run()`.

        webhooks = WebhookServer(9443, certificates="/certs")

        @webhooks.validate(Website)
        def check(site: Website, request: AdmissionRequest[Website]) -> None:
            if site.spec.replicas > 10:
                raise Denied("spec.replicas: at most 10")

        manager.add(webhooks)          # or alone: run(webhooks.run())

    `certificates` is a folder with `tls.crt` and `tls.key`; without one it speaks HTTP, for
    tests and for those who have TLS before it.
    """

    def __init__(
        self,
        listen: int | str = 9443,
        *,
        certificates: str | Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._listen = address_of(listen)
        self._certificate = ServingCertificate(certificates) if certificates else None
        self._clock: Clock = clock or SystemClock()
        self._hooks: dict[str, _Hook] = {}
        self._conversions = Conversions()
        self._serving = asyncio.Event()
        self._reviews = TaskOwner(on_failure=_log_failure)
        self._address = ""
        self._allowed = self._denied = self._failed = 0

    # --- functions

    def validate(
        self,
        cls: type[R],
        *,
        operations: Sequence[Operation] = ("CREATE", "UPDATE"),
        path: str = "",
    ) -> Callable[[Validate[R]], Validate[R]]:
        """Ask a function whether an object may be; it raises `Denied` to say no.

        Of a delete the object is the one that is to go. Returns the function.
        """

        def register(function: Validate[R]) -> Validate[R]:
            async def answer(asked: Asked, warnings: list[str]) -> bytes:
                obj, old = objects_of(asked, cls)
                request = AdmissionRequest(asked, old, warnings=warnings)
                await _awaited(function(obj, request))
                return allowed(asked.uid, warnings=request.warnings)

            self._add(path or default_path("validate", cls), cls, operations, answer, changes=False)
            return function

        return register

    def mutate(
        self,
        cls: type[R],
        *,
        operations: Sequence[Operation] = ("CREATE", "UPDATE"),
        path: str = "",
    ) -> Callable[[Mutate[R]], Mutate[R]]:
        """Let a function change an object before it is stored: the one it returns counts.

        It may change the one that it is given, and return that or nothing. Returns the
        function.
        """

        def register(function: Mutate[R]) -> Mutate[R]:
            async def answer(asked: Asked, warnings: list[str]) -> bytes:
                obj, old = objects_of(asked, cls)
                before = obj.to_dict()
                request = AdmissionRequest(asked, old, warnings=warnings)
                said = await _awaited(function(obj, request))
                changed = obj if said is None else said
                patch = patch_between(before, changed, cls, asked=asked.object)
                return allowed(asked.uid, patch=patch, warnings=request.warnings)

            self._add(path or default_path("mutate", cls), cls, operations, answer, changes=True)
            return function

        return register

    def convert(self, old: type[R], new: type[S]) -> Callable[[Callable[[R], S]], Callable[[R], S]]:
        """Convert objects from one version to another with a function; served at /convert."""

        def register(function: Callable[[R], S]) -> Callable[[R], S]:
            self._conversions.add(old, new, function)
            return function

        return register

    # --- life

    async def run(self) -> None:
        """Serve until cancelled. Raises: ConfigError."""
        tls = self._certificate.context() if self._certificate else None
        # The web server forgets a review whose caller has hung up, and those that outlast its end.
        async with (
            self._reviews,
            serving(
                self._listen, self._pages(), methods=("POST",), tls=tls, max_size=_LARGEST
            ) as address,
        ):
            self._address = str(address)
            self._serving.set()
            while True:
                await self._clock.sleep(LOOK_EVERY)
                if self._certificate is not None:
                    self._certificate.look()

    async def address(self) -> str:
        """Where it is served, with the real port; waits until it is. Safe to cancel."""
        await self._serving.wait()
        return self._address

    def stats(self) -> WebhookStats:
        return WebhookStats(
            address=self._address,
            allowed=self._allowed,
            denied=self._denied,
            failed=self._failed + self._conversions.failed,
            converted=self._conversions.converted,
        )

    def configurations(
        self,
        name: str,
        *,
        url: str = "",
        service: ServiceReference | None = None,
        ca: bytes | None = None,
    ) -> list[MutatingWebhookConfiguration | ValidatingWebhookConfiguration]:
        """What tells the API server to ask here: to be applied by who may.

        It is reached by `url` (https://host:port) or as a service of the cluster; `ca` is the
        PEM text that its certificate is checked with.

        Raises: InvalidArgument when it is given both ways, or none.
        """
        hooks = (hook.rule for hook in self._hooks.values())
        return configurations(name, hooks, Way(url, service, ca))

    def conversion(
        self,
        *,
        url: str = "",
        service: ServiceReference | None = None,
        ca: bytes | None = None,
    ) -> CustomResourceConversion:
        """The part of a CRD that has the API server convert here; as `configurations`.

        ```python
        crd = crd_of(OldWebsite, Website)
        crd.spec.conversion = webhooks.conversion(url=url, ca=ca)
        ```
        """
        return conversion(CONVERT_PATH, Way(url, service, ca))

    def __repr__(self) -> str:
        return f"WebhookServer({self._address or self._listen})"

    # --- the steps

    def _add(
        self,
        path: str,
        cls: type[Resource],
        operations: Sequence[Operation],
        answer: Review,
        *,
        changes: bool,
    ) -> None:
        if path in self._hooks:
            raise InvalidArgument(f"webhook {path}: there is one already (give another path=)")
        rule = Rule(path, resource_of(cls), tuple(operations), changes)
        self._hooks[path] = _Hook(rule, answer)

    def _pages(self) -> dict[str, Page]:
        pages: dict[str, Page] = {path: self._page(hook) for path, hook in self._hooks.items()}
        if self._conversions:
            pages[CONVERT_PATH] = self._convert_page
        return pages

    def _page(self, hook: _Hook) -> Page:
        async def page(request: Any) -> Any:
            if request.method != "POST":
                return _not_allowed()
            try:
                asked = read_review(await request.read())
            except InvalidArgument as error:
                log.warning("%s: %s", hook.rule.path, error)
                return _response(str(error).encode(), status=400)
            return _response(await self._review(hook, asked))

        return page

    async def _review(self, hook: _Hook, asked: Asked) -> bytes:
        """Answer in a task of its own, which `run()` waits for."""
        answers: list[bytes] = []

        async def review() -> None:
            answers.append(await self._answer(hook, asked))

        await self._reviews.spawn(review(), name=f"{hook.rule.path} {key_of(asked)}")
        return answers[0] if answers else self._fail(hook, asked, "a fault in kubeloop", code=500)

    async def _answer(self, hook: _Hook, asked: Asked) -> bytes:
        warnings: list[str] = []
        try:
            async with self._clock.timeout(REVIEW_TIMEOUT):
                answer = await hook.answer(asked, warnings)
        except Denied as error:
            self._denied += 1
            code, reason = error.code, error.reason
            return denied(asked.uid, error.message, code=code, reason=reason, warnings=warnings)
        except TimeoutError:
            return self._fail(hook, asked, f"no decision within {REVIEW_TIMEOUT:g} s", code=504)
        except Exception as error:
            log.exception("%s %s: the webhook failed", hook.rule.path, key_of(asked))
            return self._fail(hook, asked, f"{type(error).__name__}: {words(error)}", code=500)
        except asyncio.CancelledError:
            if is_cancelling():
                raise
            return self._fail(hook, asked, "cancelled from inside", code=500)
        self._allowed += 1
        return answer

    def _fail(self, hook: _Hook, asked: Asked, why: str, *, code: int) -> bytes:
        self._failed += 1
        log.error("%s %s: %s", hook.rule.path, key_of(asked), why)
        return denied(asked.uid, f"the webhook failed: {why}", code=code, reason="InternalError")

    async def _convert_page(self, request: Any) -> Any:
        if request.method != "POST":
            return _not_allowed()
        try:
            answer = self._conversions.answer(await request.read())
        except InvalidArgument as error:
            log.warning("%s: %s", CONVERT_PATH, error)
            return _response(str(error).encode(), status=400)
        return _response(answer)


def _log_failure(name: str, error: Exception) -> None:
    log.error("%s: the review failed", name, exc_info=error)


async def _awaited(said: Any) -> Any:
    return await said if inspect.isawaitable(said) else said


def _response(body: bytes, *, status: int = 200) -> Any:
    from aiohttp import web

    kind = "application/json" if status == 200 else "text/plain"
    return web.Response(body=body, status=status, content_type=kind)


def _not_allowed() -> Any:
    from aiohttp import web

    return web.Response(status=405, headers={"Allow": "POST"})
