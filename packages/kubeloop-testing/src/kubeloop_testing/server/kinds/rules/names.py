"""What the names of objects must look like, by kind.

See also: the rules themselves (`kubeloop.meta.names`).
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Final

from kubeloop.meta import (
    problems_of_dns_label,
    problems_of_dns_subdomain,
    problems_of_path_segment,
)

__all__ = ["IP_RULE", "address_name", "label_name", "path_name", "subdomain_name"]

IP_RULE: Final = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"


def subdomain_name(name: str, *, prefix: bool = False) -> list[str]:
    """A DNS subdomain, as most names are; a prefix may end with a hyphen."""
    return problems_of_dns_subdomain(name, prefix=prefix)


def label_name(name: str, *, prefix: bool = False) -> list[str]:
    """A DNS label."""
    return problems_of_dns_label(name, prefix=prefix)


def path_name(name: str, *, prefix: bool = False) -> list[str]:  # noqa: ARG001 # the same rule
    """Whatever fits into a path, and further rules are among those of the other fields."""
    return problems_of_path_segment(name)


def address_name(name: str, *, prefix: bool = False) -> list[str]:  # noqa: ARG001 # the same rule
    """An IP address in its canonical form, so that an address has one object."""
    # `ValidateIPAddressName`.
    try:
        is_canonical = str(ip_address(name)) == name
    except ValueError:
        is_canonical = False
    return [] if is_canonical or not name else [IP_RULE]
