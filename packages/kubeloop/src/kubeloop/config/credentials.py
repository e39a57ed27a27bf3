"""The credentials of a request: the contract between configuration and transport.

Guarantees: the repr of an `Identity` has no secret; a source returns the newest identity, and
replaces one that the server rejected; if a file can no longer be read, its last content is used.
See also: `exec_credentials` (plugins), `oidc` (OpenID Connect), `open_credentials` (which one a
configuration has), `tls` (certificates).
"""

from __future__ import annotations

import base64
import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Protocol, final

import msgspec

from kubeloop.kit import Clock
from kubeloop.wire import get_logger

from .errors import CredentialError, InvalidConfig
from .redaction import Redacted
from .tls import ClientCertificate, check_pair
from .validation import header_problem

__all__ = [
    "CertificateFiles",
    "CertificateSource",
    "Credentials",
    "Identity",
    "Impersonation",
    "StaticCredentials",
    "TokenFileCredentials",
    "WithCertificate",
    "basic",
    "bearer",
    "impersonation_headers",
    "read_token",
]

log = get_logger(__name__)

# A token file is read again every minute, ten seconds early so that no token expires in flight.
TOKEN_FILE_AGE = 50.0
# Certificate files that seem unchanged are read again after this time.
CERTIFICATE_AGE = 1.0
# Attempts to read two files that change in between.
_READS = 5


class Identity(Redacted, frozen=True, kw_only=True):
    """The credentials of one request: a header, a client certificate, both, or neither.

    Pass the same value to `refresh()`: `epoch` identifies the read or the plugin run.
    """

    redacted_fields: ClassVar[frozenset[str]] = frozenset({"authorization"})

    authorization: str = ""  # the whole Authorization header
    certificate: ClientCertificate | None = None
    epoch: int = 0


class Credentials(Protocol):
    """A source of credentials, used before each request and after a 401."""

    async def identity(self) -> Identity:
        """The current credentials; refreshed first if they are about to expire.

        Raises: `CredentialError` when there are none.
        Safe to cancel: the next call starts again.
        """
        ...

    async def refresh(self, identity: Identity) -> None:
        """The server responded with 401 to `identity`: replace it, unless that has happened.

        Never raises for a failed refresh: the next `identity()` does.
        Safe to cancel: the next `identity()` refreshes.
        """
        ...


class CertificateSource(Protocol):
    """A source of client certificates, used before each request."""

    def current(self) -> ClientCertificate:
        """The newest certificate that matches its key."""
        ...


@final
class StaticCredentials:
    """Always the same identity: a token, a password, a certificate, or none."""

    def __init__(self, identity: Identity) -> None:
        self.current = identity

    async def identity(self) -> Identity:
        return self.current

    async def refresh(self, identity: Identity) -> None:
        """There is nothing to refresh."""


@final
class TokenFileCredentials:
    """A bearer token in a file that another process rewrites.

    `initial` is used only while the file has never been read.
    """

    def __init__(self, path: str, *, clock: Clock, initial: str = "") -> None:
        self._path = path
        self._clock = clock
        self._initial = initial.strip()
        self._current: Identity | None = None
        self._read_at = 0.0
        self._epoch = 0
        self._last_warning = ""  # the last log line, so that it is not repeated with each request

    async def identity(self) -> Identity:
        return self.identity_nowait()

    async def refresh(self, identity: Identity) -> None:
        """Drop a token that was rejected, so that the next request reads the file."""
        if self._current is not None and self._current.epoch == identity.epoch:
            self._current = None

    def identity_nowait(self) -> Identity:
        """The token in the file, read at most `TOKEN_FILE_AGE` seconds ago."""
        if self._current is not None and self._clock.now() - self._read_at < TOKEN_FILE_AGE:
            return self._current
        try:
            self._set_token(read_token(self._path))
        except CredentialError as error:
            return self._without_file(error)
        assert self._current is not None
        return self._current

    def _set_token(self, token: str) -> None:
        header = bearer(token)
        self._read_at = self._clock.now()
        self._last_warning = ""
        self._epoch += 1
        self._current = Identity(authorization=header, epoch=self._epoch)

    def _without_file(self, error: CredentialError) -> Identity:
        if self._current is None and not self._initial:
            raise error
        if self._last_warning != str(error):
            self._last_warning = str(error)
            log.warning("%s: cannot read the token, keeping the last one: %s", self._path, error)
        if self._current is not None:
            return self._current
        return Identity(authorization=bearer(self._initial), epoch=self._epoch)


@final
class CertificateFiles:
    """A client certificate and its key in files that another process rewrites."""

    def __init__(self, certificate_file: str, key_file: str, *, clock: Clock) -> None:
        self._certificate_file = certificate_file
        self._key_file = key_file
        self._clock = clock
        self._current: ClientCertificate | None = None
        self._checked_at = 0.0
        self._stamps: tuple[object, ...] = ()  # of the files when they were last read
        self._last_warning = ""

    def current(self) -> ClientCertificate:
        """The pair in the files; a pair that does not match is not used.

        The files are read when their times, sizes or inodes have changed and, since two changes
        may have the same time, once a second.

        Raises: `CredentialError` when there is no previous pair either.
        """
        stamps = (_stamp(self._certificate_file), _stamp(self._key_file))
        is_recent = self._clock.now() - self._checked_at < CERTIFICATE_AGE
        if self._current is not None and is_recent and stamps == self._stamps:
            return self._current
        self._checked_at = self._clock.now()
        self._stamps = stamps
        try:
            return self._read_and_check()
        except CredentialError as error:
            if self._current is None:
                raise
            if self._last_warning != str(error):
                self._last_warning = str(error)
                log.warning(
                    "%s: cannot use the new certificate, keeping the last one: %s",
                    self._certificate_file,
                    error,
                )
            return self._current

    def _read_and_check(self) -> ClientCertificate:
        found = self._read_pair()
        if found != self._current:
            check_pair(found, what=self._certificate_file)
            if self._current is not None:
                log.info("%s: the certificate was replaced", self._certificate_file)
            self._current = found
        self._last_warning = ""
        return self._current

    def _read_pair(self) -> ClientCertificate:
        """Both files at one time: read until two reads are equal.

        They may be replaced between the two reads, and an old certificate does not match a new
        key.
        """
        found: ClientCertificate | None = None
        for _ in range(_READS):
            before, found = (
                found,
                ClientCertificate(
                    certificate=_read(self._certificate_file), key=_read(self._key_file)
                ),
            )
            if found in (before, self._current):
                return found
        raise CredentialError(
            f"reading {self._certificate_file} and its key: the files changed during each of"
            f" {_READS} reads (replace them by renaming)"
        )


@final
class WithCertificate:
    """Other credentials, with a client certificate if they have none."""

    def __init__(self, inner: Credentials, certificate: CertificateSource) -> None:
        self._inner = inner
        self._certificate = certificate

    async def identity(self) -> Identity:
        identity = await self._inner.identity()
        if identity.certificate is not None:
            return identity
        return msgspec.structs.replace(identity, certificate=self._certificate.current())

    async def refresh(self, identity: Identity) -> None:
        await self._inner.refresh(identity)


def bearer(token: str) -> str:
    """The header for a token.

    Raises: `CredentialError` for a token that is not valid in a header.
    """
    stripped = token.strip()
    if not stripped.isascii() or not stripped.isprintable():
        raise CredentialError(
            "the bearer token has a line break or another character that is not valid in a"
            " header (use one token on one line)"
        )
    return f"Bearer {stripped}"


def basic(username: str, password: str) -> str:
    """The header for a user name and a password.

    Raises: `CredentialError` for text that cannot be encoded.
    """
    try:
        pair = f"{username}:{password}".encode()
    except UnicodeEncodeError:  # its text would contain the password
        raise CredentialError(
            "the user name or the password has half a surrogate pair (use valid Unicode)"
        ) from None
    return "Basic " + base64.b64encode(pair).decode()


def read_token(path: str) -> str:
    """The token in a file, trimmed.

    Raises: `CredentialError` when the file cannot be read or is empty.
    """
    try:
        token = _read(path).decode().strip()
    except UnicodeDecodeError:
        raise CredentialError(f"reading {path}: not text (write the token into it)") from None
    if not token:
        raise CredentialError(f"reading {path}: the file is empty (write the token into it)")
    return token


def _stamp(path: str) -> tuple[int, ...] | None:
    """The attributes that change with a file, without reading it."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise CredentialError(f"reading {path}: {error.strerror} (check the path)") from error


# --- impersonation


# The characters of a header name that are not escaped; "%" starts an escape.
_TOKEN = frozenset((string.ascii_letters + string.digits + "!#$&'*+-.^_`|~").encode())


class Impersonation(msgspec.Struct, frozen=True, kw_only=True):
    """The user to impersonate, with uid, groups and extra fields.

    Raises: `InvalidConfig` for text that is not valid in a header.
    """

    user: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        texts = [("user", self.user), ("uid", self.uid)]
        texts += [("groups", group) for group in _check_list("groups", self.groups)]
        for key, values in self.extra.items():
            _check(
                "a key of extra", key, header=False
            )  # percent-encoded, so that any character is valid
            texts += [(f"extra[{key}]", value) for value in _check_list(f"extra[{key}]", values)]
        for what, text in texts:
            _check(what, text)


def impersonation_headers(user: Impersonation | None) -> tuple[tuple[str, str], ...]:
    """The `Impersonate-*` headers, some of them more than once; empty if nothing is set."""
    if user is None or user == Impersonation():
        return ()
    return (
        ("Impersonate-User", user.user),
        *((("Impersonate-Uid", user.uid),) if user.uid else ()),
        *(("Impersonate-Group", group) for group in user.groups),
        *(
            (f"Impersonate-Extra-{_escape(key)}", value)
            for key, values in user.extra.items()
            for value in values
        ),
    )


def _check_list(what: str, values: Sequence[str]) -> Sequence[str]:
    if isinstance(values, str):  # its characters would become groups
        raise InvalidConfig(f"impersonate: {what}: expected a tuple of strings, got a string")
    return values


def _check(what: str, text: str, *, header: bool = True) -> None:
    if problem := header_problem(text, controls=not header):
        raise InvalidConfig(f"impersonate: {what}: {problem}")


def _escape(key: str) -> str:
    return "".join(chr(byte) if byte in _TOKEN else f"%{byte:02X}" for byte in key.encode())
