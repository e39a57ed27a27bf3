"""The tree of errors, and what can be asked of one."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import traceback

import pytest

import kubeloop
from kubeloop.errors import (
    CODES,
    AlreadyExists,
    ApiError,
    BadRequest,
    Cause,
    Conflict,
    ConnectError,
    DecodeError,
    Expired,
    Forbidden,
    Gone,
    InternalError,
    Invalid,
    InvalidArgument,
    KubeError,
    NotFound,
    RequestEntityTooLarge,
    ServerTimeout,
    ServiceUnavailable,
    StorageReadError,
    Timeout,
    TimeoutExceeded,
    TooManyRequests,
    TransportError,
    Unauthorized,
    api_error,
    causes_of,
    failure,
    find_api_error,
    has_cause,
    is_api_error,
    status_of_error,
)
from kubeloop.errors import tree as errors
from kubeloop.errors.tree import suggested_delay
from kubeloop.wire.meta.v1 import Status, StatusCause, StatusDetails


def error(reason: str = "", code: int = 0, *, retry_after: int | None = None) -> ApiError:
    details = StatusDetails(retry_after_seconds=retry_after) if retry_after is not None else None
    return api_error("GET pods/web", Status(reason=reason, code=code, details=details))


@pytest.mark.parametrize("reason", CODES)
def test_every_reason_has_a_class_of_its_name(reason: str) -> None:
    """REST-59: the reason decides, whatever the code says."""
    found = error(reason, 418)

    assert type(found).__name__ == reason
    assert type(found) is getattr(errors, reason)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (400, BadRequest),
        (401, Unauthorized),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (410, Gone),
        (413, RequestEntityTooLarge),
        (422, Invalid),
        (429, TooManyRequests),
        (500, InternalError),
        (503, ServiceUnavailable),
        (504, Timeout),
        (418, ApiError),
        (0, ApiError),
    ],
)
@pytest.mark.parametrize("reason", ["", "UnknownReason"])
def test_the_code_decides_where_the_reason_is_not_known(
    reason: str, code: int, kind: type[ApiError]
) -> None:
    """REST-61: predicates such as IsNotFound."""
    assert type(error(reason, code)) is kind


@pytest.mark.parametrize(
    ("kind", "code"),
    [(AlreadyExists, 409), (Expired, 410), (ServerTimeout, 500), (StorageReadError, 500)],
)
def test_some_classes_are_known_by_their_reason_only(kind: type[ApiError], code: int) -> None:
    """REST-61: predicates such as IsNotFound."""
    assert not is_api_error(error("", code), kind)
    assert is_api_error(error(kind.__name__, 0), kind)


def test_a_known_reason_beats_the_code_except_for_two_codes() -> None:
    """REST-61: predicates such as IsNotFound."""
    assert not is_api_error(error("Conflict", 404), NotFound)
    assert is_api_error(error("Conflict", 429), TooManyRequests)
    assert is_api_error(error("Conflict", 429), Conflict)
    assert is_api_error(error("InternalError", 413), RequestEntityTooLarge)
    assert not is_api_error(error("Conflict", 429), RequestEntityTooLarge)


def test_expired_is_a_subclass_of_gone() -> None:
    assert isinstance(error("Expired", 410), Gone)
    assert not isinstance(error("Gone", 410), Expired)


def test_the_servers_error_is_found_inside_errors_that_wrap_it() -> None:
    """REST-61: predicates such as IsNotFound."""
    inner = error("NotFound", 404)
    wrapped = RuntimeError("while reconciling")
    wrapped.__cause__ = ExceptionGroup("two", [ValueError("other"), inner])

    assert find_api_error(wrapped) is inner
    assert is_api_error(wrapped, NotFound)
    assert status_of_error(wrapped) is inner.status


def test_an_error_without_a_response_has_no_status() -> None:
    lone = ConnectError("GET pods: connection refused")

    assert find_api_error(lone) is None
    assert status_of_error(lone) is None
    assert suggested_delay(lone) is None
    assert causes_of(lone, Cause.FIELD_INVALID) == []
    assert not is_api_error(lone, ApiError)


def test_an_error_that_was_raised_from_itself_is_searched_once() -> None:
    ring = RuntimeError("again")
    ring.__cause__ = ring

    assert find_api_error(ring) is None


@pytest.mark.parametrize(
    ("reason", "retry_after", "delay"),
    [
        ("ServerTimeout", 3, 3),
        ("ServerTimeout", 0, 0),
        ("ServerTimeout", None, None),
        ("TooManyRequests", 7, 7),
        ("TooManyRequests", 0, None),
        ("NotFound", 2, 2),
        ("NotFound", None, None),
    ],
)
def test_a_server_timeout_with_details_asks_to_wait_and_others_where_they_say_so(
    reason: str, retry_after: int | None, delay: int | None
) -> None:
    """REST-62; a status without details asks for nothing, as in client-go."""
    assert suggested_delay(error(reason, retry_after=retry_after)) == delay


def test_causes_are_found_by_their_type() -> None:
    """REST-63, API-C15: in JSON the type stands under `reason`."""
    status = Status.from_dict(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "reason": "Invalid",
            "details": {
                "causes": [
                    {"reason": "FieldValueInvalid", "message": "no", "field": "spec.a"},
                    {"reason": "FieldValueRequired", "message": "missing", "field": "spec.b"},
                ]
            },
        }
    )

    found = api_error("POST pods", status)

    assert [each.field for each in causes_of(found, Cause.FIELD_REQUIRED)] == ["spec.b"]
    assert has_cause(found, "FieldValueInvalid")
    assert not has_cause(found, Cause.NAMESPACE_TERMINATING)
    assert StatusCause(reason="X").to_dict() == {"reason": "X"}


def test_the_message_says_what_was_tried_what_came_back_and_what_to_do() -> None:
    status = Status(code=409, reason="Conflict", message="the object has been modified")

    assert str(api_error("PUT deployments/web in shop", status)) == (
        "PUT deployments/web in shop: 409 Conflict: the object has been modified "
        "(read the object again and redo the change)"
    )
    assert str(api_error("GET x", Status(code=418))) == "GET x: 418: no message"


def test_the_hint_of_an_apply_conflict_is_about_the_owner_of_the_field() -> None:
    """Reading the object again would change nothing: the field stays the other manager's."""
    cause = StatusCause(reason=Cause.FIELD_MANAGER_CONFLICT, message='conflict with "hpa"')
    status = Status(code=409, reason="Conflict", details=StatusDetails(causes=[cause]))
    found = api_error("PATCH deployments/web in shop", status)

    assert str(found).endswith("(leave the field to its owner, or take it with force=True)")
    assert str(pickle.loads(pickle.dumps(found))) == str(found)


def test_errors_survive_pickles() -> None:
    original = error("Conflict", 409)

    again = pickle.loads(pickle.dumps(original))

    assert type(again) is Conflict
    assert again.status == original.status
    assert again.action == original.action


def test_all_errors_have_one_root_and_some_a_builtin_base() -> None:
    kinds = [getattr(errors, name) for name in errors.__all__]

    assert all(issubclass(kind, KubeError) for kind in kinds if isinstance(kind, type))
    assert issubclass(InvalidArgument, ValueError)
    assert issubclass(DecodeError, InvalidArgument)
    assert issubclass(TimeoutExceeded, TimeoutError)
    assert not issubclass(ApiError, TransportError)


def test_the_tree_in_the_docstring_names_every_class() -> None:
    classes = {name for name in errors.__all__ if isinstance(getattr(errors, name), type)}
    drawn = set((errors.__doc__ or "").split())

    assert classes <= drawn


AUTHORIZER = 'pods is forbidden: User "ann" cannot list resource "pods" in API group "" at the'
DENIED = 'admission webhook "policy.example.com" denied the request: '


@pytest.mark.parametrize(
    ("code", "reason", "message", "hint"),
    [
        (403, "Forbidden", f"{AUTHORIZER} cluster scope", "grant the verb"),
        (403, "Forbidden", 'forbidden: User "ann" cannot get path "/metrics"', "grant the verb"),
        (403, "Forbidden", f"{DENIED}no latest tags", ""),
        (403, "Forbidden", f'{DENIED}User "ann" cannot use resource "gpu"', ""),
        (403, "Forbidden", 'pods "a" is forbidden: exceeded quota: q, requested: pods=1', ""),
        (403, "Forbidden", 'pods "a" is forbidden: violates PodSecurity "restricted:latest"', ""),
        (403, "Forbidden", "unable to create new content in namespace x because it is", ""),
        (403, "Forbidden", "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: x", ""),
        (404, "NotFound", "the server could not find the requested resource", "CRD installed"),
        (404, "NotFound", "the server has no such resource (get widgets)", "CRD installed"),
        (404, "NotFound", 'pods "a" not found', ""),
        (
            409,
            "Conflict",
            'Operation cannot be fulfilled on pods "a": the object has been modified; please',
            "read the object again",
        ),
        (
            409,
            "Conflict",
            'Operation cannot be fulfilled on namespaces "a": The system is ensuring all content',
            "",
        ),
        (
            409,
            "Conflict",
            'Operation cannot be fulfilled on pods "a": Precondition failed: UID in precondition',
            "",
        ),
        (409, "Conflict", f"{DENIED}wait", ""),
        (409, "AlreadyExists", 'pods "a" already exists', ""),
        (400, "BadRequest", f"{DENIED}no", ""),
        (401, "Unauthorized", "Unauthorized", "check the credentials"),
        (413, "RequestEntityTooLarge", "limit is 3145728", ""),
        (422, "Invalid", 'Pod "a" is invalid: spec.containers: Required value', ""),
        (429, "TooManyRequests", "too many requests", "try again later"),
        (410, "Expired", "The resourceVersion for the provided watch is too old", "list again"),
    ],
)
def test_a_hint_fits_its_cause(code: int, reason: str, message: str, hint: str) -> None:
    """A role does not help against a webhook, a quota or a policy."""
    found = api_error("POST pods", Status(code=code, reason=reason, message=message))

    assert hint in found.hint
    assert bool(found.hint) == bool(hint)
    assert found.python_hint == ""


FORGED = "no\n2026-01-01 ERROR root logged in\x1b[2J\u202e\u2028\x85"
SHOWN = r"no\n2026-01-01 ERROR root logged in\x1b[2J\u202e\u2028\x85"


def test_the_text_of_an_error_is_one_line_with_hidden_characters_escaped() -> None:
    found = api_error("GET pods/web", Status(reason="Odd\r!", code=418, message=FORGED))

    assert str(found) == f"GET pods/web: 418 Odd\\r!: {SHOWN}"
    assert found.status.message == FORGED


@pytest.mark.parametrize("kind", [InvalidArgument, TransportError, TimeoutExceeded, DecodeError])
def test_every_error_escapes_hidden_characters_in_its_text(kind: type[KubeError]) -> None:
    inner = kind(f"read it: {FORGED}")

    assert str(inner) == f"read it: {SHOWN}"
    assert str(KubeError(f"tried: {inner}")) == f"tried: read it: {SHOWN}"
    assert SHOWN in "".join(traceback.format_exception(inner))


def test_no_error_overrides_str() -> None:
    """`_message` is what a class overrides, so that the text always passes `visible`."""
    for module in pkgutil.walk_packages(kubeloop.__path__, "kubeloop."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    kinds = [KubeError]
    for kind in kinds:
        kinds += kind.__subclasses__()

    assert len(kinds) > 60
    assert [kind for kind in kinds[1:] if "__str__" in vars(kind)] == []


@pytest.mark.parametrize("reason", CODES)
def test_an_error_can_be_made_as_a_server_responds_with_it(reason: str) -> None:
    kind = type(api_error("", failure(reason, "")))

    error = kind.of("watch pods", "version 3 is too old", retry_after=2)

    assert type(error) is type(api_error("", error.status)) is kind
    assert (error.code, error.reason, error.retry_after) == (CODES[reason], reason, 2)
    assert str(error).startswith(f"watch pods: {CODES[reason]} {reason}: version 3 is too old")


def test_an_error_without_a_reason_cannot_be_made() -> None:
    with pytest.raises(InvalidArgument, match="use a subclass"):
        ApiError.of("watch pods", "version 3 is too old")
