"""Who a request says it is: the contract between configuration and transport.

Promises: an `Identity` is a value that prints no secret; a source hands out the
newest one it has, and is told when the server refused one; a file that was read once
and cannot be read again does not take away what was read.
Elsewhere: plugins (`exec_credentials`), OpenID Connect (`oidc`), which of them a
configuration means (`opening`), and what is done with a certificate (`tls`).
"""

from __future__ import annotations

import base64
import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Protocol, final

import msgspec

from kubeloop.kit import Clock
from kubeloop.machinery import get_logger

from .errors import CredentialError, InvalidConfig
from .redaction import Veiled
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

# A token file is believed for a minute, less ten seconds so that it never runs out on the way.
TOKEN_FILE_AGE = 50.0
# Certificate files that look unchanged are believed for this long.
CERTIFICATE_AGE = 1.0
# How often files that change under the reader are read before that is an error.
_READS = 5


class Identity(Veiled, frozen=True, kw_only=True):
    """What one request shows: a header, a client certificate, both, or (anonymous) neither.

    Hand the same value to `refused()`: `epoch` tells which reading or run it came from.
    """

    veiled: ClassVar[frozenset[str]] = frozenset({"authorization"})

    authorization: str = ""  # the whole Authorization header
    certificate: ClientCertificate | None = None
    epoch: int = 0


class Credentials(Protocol):
    """What a transport asks for before each request, and tells after a refusal."""

    async def identity(self) -> Identity:
        """Who to be now, renewed first when it is due.

        Raises: `CredentialError` when there is no way to be anybody.
        Safe to cancel: the next call starts again.
        """
        ...

    async def refused(self, identity: Identity) -> None:
        """The server answered 401 to `identity`; renew it unless that has happened already.

        Never raises for a failed renewal: the next `identity()` does.
        Safe to cancel: the next `identity()` renews.
        """
        ...


class CertificateSource(Protocol):
    """Where the client certificate comes from, asked before each request."""

    def current(self) -> ClientCertificate:
        """The newest certificate that fits its key."""
        ...


@final
class StaticCredentials:
    """The same identity for ever: a token, a password, a certificate, or nobody."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity

    async def identity(self) -> Identity:
        return self._identity

    async def refused(self, identity: Identity) -> None:
        """Nothing to be renewed."""


@final
class TokenFileCredentials:
    """A bearer token in a file that somebody else rewrites.

    `initial` is used only while the file has never been read.
    """

    def __init__(self, path: str, *, clock: Clock, initial: str = "") -> None:
        self._path = path
        self._clock = clock
        self._initial = initial.strip()
        self._held: Identity | None = None
        self._read_at = 0.0
        self._epoch = 0
        self._complaint = ""  # what was last logged, so that it is not said with each request

    async def identity(self) -> Identity:
        return self.identity_nowait()

    async def refused(self, identity: Identity) -> None:
        """Forget a token that was refused, so that the next request reads the file."""
        if self._held is not None and self._held.epoch == identity.epoch:
            self._held = None

    def identity_nowait(self) -> Identity:
        """The token in the file, as it was at most `TOKEN_FILE_AGE` ago."""
        if self._held is not None and self._clock.now() - self._read_at < TOKEN_FILE_AGE:
            return self._held
        try:
            self._take(read_token(self._path))
        except CredentialError as error:
            return self._without_file(error)
        assert self._held is not None
        return self._held

    def _take(self, token: str) -> None:
        header = bearer(token)
        self._read_at = self._clock.now()
        self._complaint = ""
        self._epoch += 1
        self._held = Identity(authorization=header, epoch=self._epoch)

    def _without_file(self, error: CredentialError) -> Identity:
        if self._held is None and not self._initial:
            raise error
        if self._complaint != str(error):
            self._complaint = str(error)
            log.warning("%s: keeping the token that was known before: %s", self._path, error)
        if self._held is not None:
            return self._held
        return Identity(authorization=bearer(self._initial), epoch=self._epoch)


@final
class CertificateFiles:
    """A client certificate and its key in files that somebody else rewrites."""

    def __init__(self, certificate_file: str, key_file: str, *, clock: Clock) -> None:
        self._certificate_file = certificate_file
        self._key_file = key_file
        self._clock = clock
        self._held: ClientCertificate | None = None
        self._looked_at = 0.0
        self._stamps: tuple[object, ...] = ()  # of the files when they were last read
        self._complaint = ""

    def current(self) -> ClientCertificate:
        """The pair that is in the files now; a pair that does not fit is not taken.

        The files are read when their times, sizes or inodes have changed and, since times
        stand still for milliseconds, once a second.

        Raises: `CredentialError` when there has never been one.
        """
        stamps = (_stamp(self._certificate_file), _stamp(self._key_file))
        is_recent = self._clock.now() - self._looked_at < CERTIFICATE_AGE
        if self._held is not None and is_recent and stamps == self._stamps:
            return self._held
        self._looked_at = self._clock.now()
        self._stamps = stamps
        try:
            return self._look()
        except CredentialError as error:
            if self._held is None:
                raise
            if self._complaint != str(error):
                self._complaint = str(error)
                log.warning("%s: keeping the certificate: %s", self._certificate_file, error)
            return self._held

    def _look(self) -> ClientCertificate:
        found = self._read_pair()
        if found != self._held:
            check_pair(found, what=self._certificate_file)
            if self._held is not None:
                log.info("%s: the certificate was replaced", self._certificate_file)
            self._held = found
        self._complaint = ""
        return self._held

    def _read_pair(self) -> ClientCertificate:
        """Both files as they were at one moment: read until they stay the same.

        They may be replaced between the two reads, and the certificate of before and the key
        of after are no pair.
        """
        found: ClientCertificate | None = None
        for _ in range(_READS):
            before, found = (
                found,
                ClientCertificate(
                    certificate=_read(self._certificate_file), key=_read(self._key_file)
                ),
            )
            if found in (before, self._held):
                return found
        raise CredentialError(
            f"reading {self._certificate_file} and its key: the files changed during each of"
            f" {_READS} reads (replace them by renaming)"
        )


@final
class WithCertificate:
    """Other credentials, with a client certificate where they bring none themselves."""

    def __init__(self, inner: Credentials, certificate: CertificateSource) -> None:
        self._inner = inner
        self._certificate = certificate

    async def identity(self) -> Identity:
        identity = await self._inner.identity()
        if identity.certificate is not None:
            return identity
        return msgspec.structs.replace(identity, certificate=self._certificate.current())

    async def refused(self, identity: Identity) -> None:
        await self._inner.refused(identity)


def bearer(token: str) -> str:
    """The header for a token.

    Raises: `CredentialError` for a token that a header cannot carry.
    """
    stripped = token.strip()
    if not stripped.isascii() or not stripped.isprintable():
        raise CredentialError(
            "the bearer token holds a line break or another character that a header cannot"
            " carry (give one token on one line)"
        )
    return f"Bearer {stripped}"


def basic(username: str, password: str) -> str:
    """The header for a user name and a password.

    Raises: `CredentialError` for text that cannot be encoded.
    """
    try:
        pair = f"{username}:{password}".encode()
    except UnicodeEncodeError:  # whose text would quote the password
        raise CredentialError(
            "the user name or the password holds half a surrogate pair (give valid Unicode)"
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
    """What nearly always changes with a file, found out without reading it."""
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


# The characters of a header name that stand for themselves; "%" begins an escape.
_TOKEN = frozenset((string.ascii_letters + string.digits + "!#$&'*+-.^_`|~").encode())


class Impersonation(msgspec.Struct, frozen=True, kw_only=True):
    """The user to be taken for, with uid, groups and whatever else the server is told.

    Raises: `InvalidConfig` for text that a header cannot carry.
    """

    user: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        texts = [("user", self.user), ("uid", self.uid)]
        texts += [("groups", group) for group in _listed("groups", self.groups)]
        for key, values in self.extra.items():
            _check("a key of extra", key, header=False)  # percent-encoded, so anything goes
            texts += [(f"extra[{key}]", value) for value in _listed(f"extra[{key}]", values)]
        for what, text in texts:
            _check(what, text)


def impersonation_headers(who: Impersonation | None) -> tuple[tuple[str, str], ...]:
    """The headers for `who`, some of them more than once; none when nothing is set."""
    if who is None or who == Impersonation():
        return ()
    return (
        ("Impersonate-User", who.user),
        *((("Impersonate-Uid", who.uid),) if who.uid else ()),
        *(("Impersonate-Group", group) for group in who.groups),
        *(
            (f"Impersonate-Extra-{_escaped(key)}", value)
            for key, values in who.extra.items()
            for value in values
        ),
    )


def _listed(what: str, values: Sequence[str]) -> Sequence[str]:
    if isinstance(values, str):  # its letters would become groups
        raise InvalidConfig(f"impersonate: {what}: expected several texts, found one (use a tuple)")
    return values


def _check(what: str, text: str, *, header: bool = True) -> None:
    if problem := header_problem(text, controls=not header):
        raise InvalidConfig(f"impersonate: {what}: {problem}")


def _escaped(key: str) -> str:
    return "".join(chr(byte) if byte in _TOKEN else f"%{byte:02X}" for byte in key.encode())
