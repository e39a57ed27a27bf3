"""Asks a person for a user name and a password, where a configuration has none.

Promises: asks once and remembers; a password is read from a terminal only, unseen.
"""

from __future__ import annotations

import getpass
import sys
from typing import Protocol, TextIO, final

import msgspec

from .errors import CredentialError
from .kubeconfig import User

__all__ = ["Prompt", "TerminalPrompt", "ask_for_user", "has_identification"]


class Prompt(Protocol):
    """Somebody who can be asked."""

    def username(self) -> str: ...
    def password(self) -> str: ...


@final
class TerminalPrompt:
    """Asks on the terminal, once."""

    def __init__(self, reader: TextIO | None = None, writer: TextIO | None = None) -> None:
        self._reader = reader
        self._writer = writer
        self._username: str | None = None
        self._password: str | None = None

    def username(self) -> str:
        if self._username is None:
            writer = self._writer or sys.stderr
            writer.write("Please enter Username: ")
            writer.flush()
            self._username = (self._reader or sys.stdin).readline().strip()
        return self._username

    def password(self) -> str:
        """The password; raises `CredentialError` where nobody can type it unseen."""
        if self._password is None:
            reader = self._reader or sys.stdin
            if not reader.isatty():
                raise CredentialError(
                    "asking for a password: standard input is not a terminal"
                    " (put credentials into the kubeconfig)"
                )
            self._password = getpass.getpass("Please enter Password: ")
        return self._password


def has_identification(user: User) -> bool:
    """Whether `user` says in any way who is asking."""
    certificate = user.client_certificate or user.client_certificate_data
    token = user.token or user.token_file
    return bool(certificate or token or user.username or user.exec or user.auth_provider)


def ask_for_user(user: User, prompt: Prompt | None) -> User:
    """`user`, with name and password from `prompt` when it has no identification at all."""
    if prompt is None or has_identification(user):
        return user
    return msgspec.structs.replace(user, username=prompt.username(), password=prompt.password())
