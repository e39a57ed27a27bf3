"""A server of admission and conversion webhooks, with functions of typed objects.

Guarantees: a function that fails or hangs denies the request with a reason, and is logged with
the object's key; an invalid review is rejected. The certificate is reloaded from its files. It
needs neither a manager nor a client. `run()` ends after all reviews that have begun, also those
whose caller has closed the connection.
See also: `admission` and `conversion` (reviews), `certificates`, `webhook_configurations` (the
objects that make the API server call the webhooks).
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, final

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
    Denied,
    Operation,
    ReviewRequest,
    allow_response,
    deny_response,
    key_of,
    objects_of,
    patch_between,
    read_review,
)
from .certificates import ServingCertificate
from .conversion import Conversions
from .endpoints import Page, parse_address, serving
from .results import error_text
from .webhook_configurations import (
    WebhookRule,
    WebhookTarget,
    configurations,
    conversion,
    default_path,
)

if TYPE_CHECKING:
    from aiohttp import web

__all__ = ["CONVERT_PATH", "REVIEW_TIMEOUT", "WebhookServer", "WebhookStats"]

R = TypeVar("R", bound=Resource)
S = TypeVar("S", bound=Resource)
log = get_logger(__name__)

REVIEW_TIMEOUT: Final = 10.0
"""Bound in seconds on one function; the default timeout of the API server."""
CONVERT_PATH: Final = "/convert"
RELOAD_INTERVAL: Final = 10.0
"""Seconds between two checks of the certificate's files."""
_MAX_SIZE: Final = 16 << 20  # a review holds an object twice

Validate: TypeAlias = Callable[[R, AdmissionRequest[R]], Awaitable[None] | None]
Mutate: TypeAlias = Callable[[R, AdmissionRequest[R]], Awaitable[R | None] | R | None]
# Gets the list to which warnings are appended, and returns the response.
ReviewFunction: TypeAlias = Callable[[ReviewRequest, list[str]], Awaitable[bytes]]


class WebhookStats(msgspec.Struct, frozen=True):
    """A snapshot of the reviews so far."""

    address: str
    allowed: int
    denied: int
    failed: int
    converted: int


class _Webhook(msgspec.Struct, frozen=True):
    """One path and its function."""

    rule: WebhookRule
    review: ReviewFunction


@final
class WebhookServer:
    """A server of webhooks (controller-runtime: `webhook.Server`); add functions before `run()`.

        webhooks = WebhookServer(9443, certificates="/certs")

        @webhooks.validate(Website)
        def check(site: Website, request: AdmissionRequest[Website]) -> None:
            if site.spec.replicas > 10:
                raise Denied("spec.replicas: at most 10")

        manager.add(webhooks)          # or alone: run(webhooks.run())

    `certificates` is a folder with `tls.crt` and `tls.key`; without it the server uses HTTP,
    for tests or behind a TLS proxy.
    """

    def __init__(
        self,
        listen: int | str = 9443,
        *,
        certificates: str | Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._listen = parse_address(listen)
        self._certificate = ServingCertificate(certificates) if certificates else None
        self._clock: Clock = clock or SystemClock()
        self._webhooks: dict[str, _Webhook] = {}
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
        """Validate objects with a function, which raises `Denied` to reject one.

        For a delete it gets the object that is to be deleted. Returns the function.
        """

        def register(function: Validate[R]) -> Validate[R]:
            async def respond(review: ReviewRequest, warnings: list[str]) -> bytes:
                obj, old = objects_of(review, cls)
                request = AdmissionRequest(review, old, warnings=warnings)
                result = function(obj, request)
                if inspect.isawaitable(result):
                    await result
                return allow_response(review.uid, warnings=request.warnings)

            where = path or default_path("validate", cls)
            self._add(where, cls, operations, respond, is_mutating=False)
            return function

        return register

    def mutate(
        self,
        cls: type[R],
        *,
        operations: Sequence[Operation] = ("CREATE", "UPDATE"),
        path: str = "",
    ) -> Callable[[Mutate[R]], Mutate[R]]:
        """Change objects with a function before they are stored.

        It returns the new object, or changes the given one and returns it or nothing. Returns
        the function.
        """

        def register(function: Mutate[R]) -> Mutate[R]:
            async def respond(review: ReviewRequest, warnings: list[str]) -> bytes:
                obj, old = objects_of(review, cls)
                before = obj.to_dict()
                request = AdmissionRequest(review, old, warnings=warnings)
                result = function(obj, request)
                returned = await result if inspect.isawaitable(result) else result
                changed = obj if returned is None else returned
                patch = patch_between(before, changed, cls, sent=review.object)
                return allow_response(review.uid, patch=patch, warnings=request.warnings)

            where = path or default_path("mutate", cls)
            self._add(where, cls, operations, respond, is_mutating=True)
            return function

        return register

    def convert(self, old: type[R], new: type[S]) -> Callable[[Callable[[R], S]], Callable[[R], S]]:
        """Convert objects from one version to another with a function; served at /convert."""

        def register(function: Callable[[R], S]) -> Callable[[R], S]:
            self._conversions.add(old, new, function)
            return function

        return register

    # --- lifecycle

    async def run(self) -> None:
        """Serve until cancelled. Raises: ConfigError."""
        tls = self._certificate.context() if self._certificate else None
        # aiohttp drops a request whose connection is closed, and those that outlast its shutdown.
        async with (
            self._reviews,
            serving(
                self._listen, self._pages(), methods=("POST",), tls=tls, max_size=_MAX_SIZE
            ) as address,
        ):
            self._address = str(address)
            self._serving.set()
            while True:
                await self._clock.sleep(RELOAD_INTERVAL)
                if self._certificate is not None:
                    self._certificate.reload()

    async def address(self) -> str:
        """Its address, with the real port; waits until it serves. Safe to cancel."""
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
        """The configurations that make the API server call these webhooks, to be applied.

        The API server reaches them by `url` (https://host:port) or by a service of the cluster;
        `ca` is the PEM text of the CA of the certificate.

        Raises: InvalidArgument when both or none are given.
        """
        rules = (webhook.rule for webhook in self._webhooks.values())
        return configurations(name, rules, WebhookTarget(url, service, ca))

    def conversion(
        self,
        *,
        url: str = "",
        service: ServiceReference | None = None,
        ca: bytes | None = None,
    ) -> CustomResourceConversion:
        """The part of a CRD that makes the API server convert here; as `configurations`.

        ```python
        crd = crd_of(OldWebsite, Website)
        crd.spec.conversion = webhooks.conversion(url=url, ca=ca)
        ```
        """
        return conversion(CONVERT_PATH, WebhookTarget(url, service, ca))

    def __repr__(self) -> str:
        return f"WebhookServer({self._address or self._listen})"

    # --- reviews

    def _add(
        self,
        path: str,
        cls: type[Resource],
        operations: Sequence[Operation],
        review: ReviewFunction,
        *,
        is_mutating: bool,
    ) -> None:
        if path in self._webhooks:
            raise InvalidArgument(f"webhook {path}: the path is in use (give another path=)")
        rule = WebhookRule(path, resource_of(cls), tuple(operations), is_mutating)
        self._webhooks[path] = _Webhook(rule, review)

    def _pages(self) -> dict[str, Page]:
        pages: dict[str, Page] = {
            path: self._page(webhook) for path, webhook in self._webhooks.items()
        }
        if self._conversions:
            pages[CONVERT_PATH] = self._convert_page
        return pages

    def _page(self, webhook: _Webhook) -> Page:
        async def page(request: web.Request) -> web.Response:
            if request.method != "POST":
                return _not_allowed()
            try:
                review = read_review(await request.read())
            except InvalidArgument as error:
                log.warning("%s: %s", webhook.rule.path, error)
                return _response(str(error).encode(), status=400)
            return _response(await self._review(webhook, review))

        return page

    async def _review(self, webhook: _Webhook, review: ReviewRequest) -> bytes:
        """Review in a task of its own, which `run()` waits for."""
        responses: list[bytes] = []

        async def respond() -> None:
            responses.append(await self._respond(webhook, review))

        await self._reviews.spawn(respond(), name=f"{webhook.rule.path} {key_of(review)}")
        return responses[0] if responses else self._fail(webhook, review, "a bug in kubeloop", 500)

    async def _respond(self, webhook: _Webhook, review: ReviewRequest) -> bytes:
        warnings: list[str] = []
        try:
            async with self._clock.timeout(REVIEW_TIMEOUT):
                response = await webhook.review(review, warnings)
        except Denied as error:
            self._denied += 1
            code, reason = error.code, error.reason
            return deny_response(
                review.uid, error.message, code=code, reason=reason, warnings=warnings
            )
        except TimeoutError:
            return self._fail(webhook, review, f"no decision within {REVIEW_TIMEOUT:g} s", 504)
        except Exception as error:
            log.exception("%s %s: the webhook failed", webhook.rule.path, key_of(review))
            return self._fail(webhook, review, f"{type(error).__name__}: {error_text(error)}", 500)
        except asyncio.CancelledError:
            if is_cancelling():
                raise
            return self._fail(webhook, review, "cancelled from inside", 500)
        self._allowed += 1
        return response

    def _fail(self, webhook: _Webhook, review: ReviewRequest, why: str, code: int) -> bytes:
        self._failed += 1
        log.error("%s %s: %s", webhook.rule.path, key_of(review), why)
        return deny_response(
            review.uid, f"the webhook failed: {why}", code=code, reason="InternalError"
        )

    async def _convert_page(self, request: web.Request) -> web.Response:
        if request.method != "POST":
            return _not_allowed()
        try:
            response = self._conversions.respond(await request.read())
        except InvalidArgument as error:
            log.warning("%s: %s", CONVERT_PATH, error)
            return _response(str(error).encode(), status=400)
        return _response(response)


def _log_failure(name: str, error: Exception) -> None:
    log.error("%s: the review failed", name, exc_info=error)


def _response(body: bytes, *, status: int = 200) -> web.Response:
    from aiohttp import web

    kind = "application/json" if status == 200 else "text/plain"
    return web.Response(body=body, status=status, content_type=kind)


def _not_allowed() -> web.Response:
    from aiohttp import web

    return web.Response(status=405, headers={"Allow": "POST"})
