"""`kubeloop auth`: who you are, and what you may do."""

from __future__ import annotations

from typing import Any

import click

from kubeloop.clients import ALL_NAMESPACES
from kubeloop.discovery import NoKindMatch, NoResourceMatch
from kubeloop.kit import run
from kubeloop.wire import resource_of
from kubeloop.wire.authentication.v1 import SelfSubjectReview, UserInfo

from .failures import ExitCode
from .flags import Flags, cluster_flags, connect, pass_flags
from .outputs import Output, OutputType
from .sources import print_object, usage_error
from .tables import TextTable
from .terminal import print_line, print_table

__all__ = ["auth"]


@click.group()
def auth() -> None:
    """Show who you are, and what you may do."""


@auth.command("can-i", short_help="Ask whether something is allowed.")
@click.argument("words", metavar="[VERB KIND[/NAME] | VERB URL]", nargs=-1)
@click.option("--subresource", default="", help="A subresource, such as log or status.")
@click.option("-A", "--all-namespaces", is_flag=True, help="In all namespaces.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; the exit code tells.")
@click.option("--list", "is_list", is_flag=True, help="Print everything that is allowed.")
@click.option("--no-headers", is_flag=True, help="Print the list without its header.")
@cluster_flags
@pass_flags
def can_i(
    flags: Flags,
    /,
    *,
    words: tuple[str, ...],
    subresource: str,
    all_namespaces: bool,
    quiet: bool,
    is_list: bool,
    no_headers: bool,
) -> None:
    """Ask whether you may do something; exits with 1 if not.

    \b
    Examples:
      kubeloop auth can-i create pods
      kubeloop auth can-i get pods/web-1 --subresource=log -n shop
      kubeloop auth can-i list deployments.apps -A --as=joe
      kubeloop auth can-i get /metrics --quiet
      kubeloop auth can-i --list
    """
    if is_list != (not words) or len(words) not in (0, 2):
        raise usage_error("expected VERB KIND, VERB KIND/NAME or VERB URL, or --list")
    if is_list:
        run(_print_rules(flags, headers=not no_headers))
        return
    verb, what = words
    namespace = ALL_NAMESPACES if all_namespaces else None
    allowed = run(
        _ask(flags, verb, what, subresource=subresource, namespace=namespace, quiet=quiet)
    )
    click.get_current_context().exit(ExitCode.OK if allowed else ExitCode.FAILED)


async def _ask(
    flags: Flags, verb: str, what: str, *, subresource: str, namespace: str | None, quiet: bool
) -> bool:
    kind, _, name = (what, "", "") if what.startswith("/") else what.partition("/")
    async with connect(flags) as client:
        if not quiet and not what.startswith("/") and kind != "*":
            try:
                info = await client.mapper.find(kind)
            except (NoKindMatch, NoResourceMatch):
                text = f"Warning: the server doesn't have a resource type '{kind}'"
                print_line(text, err=True)
            else:
                if not info.namespaced and namespace is None:
                    text = f"Warning: resource '{kind}' is not namespace scoped"
                    print_line(text, err=True)
        access = await client.can_i(
            verb, kind, name=name, subresource=subresource, namespace=namespace
        )
    if not quiet:
        parts = ["yes" if access else "no", access.reason, access.evaluation_error]
        print_line(" - ".join(part for part in parts if part) if not access else "yes")
    return bool(access)


async def _print_rules(flags: Flags, *, headers: bool) -> None:
    async with connect(flags) as client:
        found = await client.what_can_i()
    if found.incomplete:
        print_line(f"warning: the list may be incomplete: {found.evaluation_error}", err=True)
    rows = tuple(
        (
            rule.full_resource,
            f"[{rule.url}]",
            f"[{rule.name}]",
            f"[{' '.join(rule.verbs)}]",
        )
        for rule in found.rules
    )
    header = ("Resources", "Non-Resource URLs", "Resource Names", "Verbs")
    if headers:
        print_table(TextTable(header, rows))
    elif rows:
        print_table(TextTable(rows[0], rows[1:]))


@auth.command(short_help="Print who you are for the server.")
@click.option(
    "-o", "--output", type=OutputType("json", "yaml", "jsonpath"),
    help="Print the review as json, yaml or jsonpath=TEMPLATE.",
)  # fmt: skip
@cluster_flags
@pass_flags
def whoami(flags: Flags, /, *, output: Output | None) -> None:
    """Print who you are for the server: name, uid, groups and extra fields.

    \b
    Examples:
      kubeloop auth whoami
      kubeloop auth whoami --as=joe -o yaml
    """

    async def main() -> SelfSubjectReview:
        async with connect(flags) as client:
            return await client.resource(SelfSubjectReview).create(SelfSubjectReview())

    review = run(main())
    if output is None:
        print_table(TextTable(("ATTRIBUTE", "VALUE"), _attributes(review.status.user_info)))
        return
    print_object(output, resource_of(SelfSubjectReview), review.to_dict())


def _attributes(user: UserInfo) -> tuple[tuple[str, str], ...]:
    rows: list[tuple[str, Any]] = [("Username", user.username or ""), ("UID", user.uid or "")]
    if user.groups:
        rows.append(("Groups", f"[{' '.join(user.groups)}]"))
    rows += [
        (f"Extra: {key}", f"[{' '.join(values)}]") for key, values in sorted(user.extra.items())
    ]
    return tuple((name, value) for name, value in rows if value)
