"""Validates the conversion of a CustomResourceDefinition, as `validateCustomResourceConversion`.

Guarantees: causes have kube-apiserver's paths, reasons and values. The webhook itself is never
called.
See also: the rest of a definition (`crd_validation`), the warning about it (`crd_warnings`).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from kubeloop.meta import problems_of_dns_1035_label, problems_of_dns_subdomain

from ..statuses import Cause
from ..values import causes
from ..values.json_values import Json

__all__ = ["problems_of_conversion"]


_PATH: Final = "spec.conversion"
_CLIENT: Final = f"{_PATH}.webhookClientConfig"
_REVIEWS: Final = f"{_PATH}.conversionReviewVersions"
_KNOWN_REVIEWS: Final = ("v1", "v1beta1")


def problems_of_conversion(conversion: Json, old: Json | None, *, established: bool) -> list[Cause]:
    """What is wrong with `spec.conversion`; `old` is the one that an update replaces.

    The CA bundle is only checked once the kind is established: tools add it afterwards.
    """
    strategy = conversion.get("strategy") or ""
    webhook = conversion.get("webhook") or {}
    client, reviews = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or ()
    found: list[Cause] = []
    if not strategy:
        found.append(causes.required(f"{_PATH}.strategy"))
    elif strategy not in {"None", "Webhook"}:
        found.append(causes.not_supported(f"{_PATH}.strategy", strategy, ("None", "Webhook")))
    if strategy != "Webhook":
        rule = "should not be set when strategy is not set to Webhook"
        found += [causes.forbidden(_CLIENT, rule)] if client is not None else []
        found += [causes.forbidden(_REVIEWS, rule)] if reviews else []
        return found
    if client is None:
        found.append(causes.required(_CLIENT, "required when strategy is set to Webhook"))
    else:
        found += _client_problems(client)
        if established and not _has_broken_bundle(old or {}):
            found += _bundle_problems(client)
    return [*found, *_review_problems(list(reviews), old)]


def _client_problems(client: Json) -> Iterator[Cause]:
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        yield causes.required(_CLIENT, "exactly one of url or service is required")
    elif url is not None:
        yield from _url_problems(url, f"{_CLIENT}.url")
    else:
        yield from _service_problems(service or {}, f"{_CLIENT}.service")


def _url_problems(text: str, where: str) -> Iterator[Cause]:
    # `ValidateWebhookURL`: the value of each cause is the part of the URL that it is about.
    try:
        url = urlsplit(text)
    except ValueError as error:
        yield causes.required(where, f"url must be a valid URL: {error}")
        return
    form = "the form is https://host[/path]"
    if url.scheme != "https":
        yield causes.invalid(
            where,
            url.scheme,
            "'https' is the only allowed URL scheme; desired format: https://host[/path]",
        )
    if not url.netloc:
        yield causes.invalid(where, "", f"the host is missing: {form}")
    if "@" in url.netloc:
        user = url.netloc.rpartition("@")[0]
        yield causes.invalid(where, user, "user information is not permitted in the URL")
    if url.fragment:
        yield causes.invalid(where, url.fragment, "fragments are not permitted in the URL")
    if url.query:
        yield causes.invalid(where, url.query, "query parameters are not permitted in the URL")


def _service_problems(service: Json, where: str) -> Iterator[Cause]:
    # `ValidateWebhookService`, which is called with name and namespace exchanged.
    if not service.get("namespace"):
        yield causes.required(f"{where}.name")
    if not service.get("name"):
        yield causes.required(f"{where}.namespace")
    port = service.get("port", 443)
    if not 1 <= port <= 65535:
        rule = "port is not valid: must be between 1 and 65535, inclusive"
        yield causes.invalid(f"{where}.port", port, rule)
    path = service.get("path") or ""
    if path not in {"", "/"}:
        yield from _path_problems(path, f"{where}.path")


def _path_problems(path: str, where: str) -> Iterator[Cause]:
    if path == "//":
        yield causes.invalid(where, path, "segment[0] may not be empty")
        return
    if not path.startswith("/"):
        yield causes.invalid(where, path, "must start with a '/'")
    for index, step in enumerate(path[1:].removesuffix("/").split("/")):
        if not step:
            yield causes.invalid(where, path, f"segment[{index}] may not be empty")
            continue
        for problem in problems_of_dns_subdomain(step):
            yield causes.invalid(where, path, f"segment[{index}] {problem}")


def _review_problems(reviews: list[str], old: Json | None) -> Iterator[Cause]:
    if not reviews:
        yield causes.required(_REVIEWS)
        return
    for index, review in enumerate(reviews):
        if review in reviews[:index]:
            yield causes.invalid(f"{_REVIEWS}[{index}]", review, "duplicate version")
            continue
        for problem in problems_of_dns_1035_label(review):
            yield causes.invalid(f"{_REVIEWS}[{index}]", review, problem)
    before = ((old or {}).get("webhook") or {}).get("conversionReviewVersions") or _KNOWN_REVIEWS
    is_known = any(each in _KNOWN_REVIEWS for each in reviews)
    if not is_known and any(each in _KNOWN_REVIEWS for each in before):
        rule = f"must include at least one of {', '.join(_KNOWN_REVIEWS)}"
        yield causes.invalid(_REVIEWS, reviews, rule)


# --- CA bundles


def _bundle_problems(client: Json) -> Iterator[Cause]:
    bundle = client.get("caBundle") or ""
    if bundle and not _has_certificates(bundle):
        rule = "unable to load root certificates: the value has no PEM certificates"
        yield causes.invalid(f"{_CLIENT}.caBundle", bundle, rule)


def _has_broken_bundle(conversion: Json) -> bool:
    client = (conversion.get("webhook") or {}).get("clientConfig") or {}
    return bool(client.get("caBundle")) and not _has_certificates(client["caBundle"])


def _has_certificates(bundle: str) -> bool:
    from cryptography.x509 import load_pem_x509_certificates

    try:
        return bool(load_pem_x509_certificates(base64.b64decode(bundle)))
    except (binascii.Error, ValueError):
        return False
