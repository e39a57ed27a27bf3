"""Prompts for user name and password if a configuration has no credentials.

Guarantees: prompts once; a password is read only from a terminal, without echo.
"""

from __future__ import annotations

import sys
from typing import Protocol, TextIO, final

import msgspec

from .errors import CredentialError
from .kubeconfig import User

__all__ = ["Prompt", "TerminalPrompt", "ask_for_user", "has_credentials"]


class Prompt(Protocol):
    """Asks the user for a name and a password."""

    def username(self) -> str: ...
    def password(self) -> str: ...


@final
class TerminalPrompt:
    """Prompts on the terminal, once."""

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
        """The password. Raises: `CredentialError` without a terminal."""
        if self._password is None:
            reader = self._reader or sys.stdin
            if not reader.isatty():
                raise CredentialError(
                    "prompt for a password: standard input is not a terminal"
                    " (add credentials to the kubeconfig)"
                )
            import getpass  # not needed if there are credentials

            self._password = getpass.getpass("Please enter Password: ")
        return self._password


def has_credentials(user: User) -> bool:
    """Whether `user` has any credentials."""
    certificate = user.client_certificate or user.client_certificate_data
    token = user.token or user.token_file
    return bool(certificate or token or user.username or user.exec or user.auth_provider)


def ask_for_user(user: User, prompt: Prompt | None) -> User:
    """`user`, with name and password of `prompt` if it has no credentials."""
    if prompt is None or has_credentials(user):
        return user
    return msgspec.structs.replace(user, username=prompt.username(), password=prompt.password())
