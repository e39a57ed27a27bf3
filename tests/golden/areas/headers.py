"""Impersonation, warnings and proxies: the headers of a request."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from kubeloop.config import Impersonation, ProxyRules, impersonation_headers
from kubeloop.rest import parse_warnings
from tests.golden.case import Area, Case

_WARNINGS = [
    [],
    [""],
    ['299 - "text"'],
    ['299 - "a", 299 - "b"'],
    ['299 - "a"', '299 - "b"'],
    ['299 agent "quo\\"ted"'],
    ['299 - "text" "Fri, 31 Dec 1999 23:59:59 GMT"'],
    ['299 - "a" "bad date"'],
    ['199 - "other code"'],
    ["299 - text"],
    ['299 "text"'],
    ['299 - "unclosed'],
    ['2999 - "long code"'],
    ['99 - "short code"'],
    ['29x - "x"'],
    ['299 - ""'],
    ['299 - "a" extra'],
    ['299 - "a",'],
    [', 299 - "a"'],
    ['299 - "a"; 299 - "b"'],
    ['299 - "a" , 299 - "b"'],
    ['299  - "two spaces"'],
    [' 299 - "led by a space" '],
    ['299 - "back\\\\slash"'],
    ['299 - "new\\nline"'],
    ['299 - "=?UTF-8?Q?p=C3=B6st?="'],
    ['299 - "é"'],
    ['299 - "a"299 - "b"'],
    ['299 ag"ent "x"'],
]


_NO_PROXY = [
    *(
        "",
        "*",
        "example.com",
        ".example.com",
        "*.example.com",
        "EXAMPLE.com",
        "ample.com",
        "10.0.0.0/8",
    ),
    *(
        "10.1.2.3",
        "10.1.2.3:6443",
        "example.com:443",
        "example.com:80",
        " example.com , other",
        "::1",
    ),
    *(
        "[::1]",
        "[::1]:443",
        "fd00::/8",
        "example.com.",
        "sub.example.com",
        "10.0.0.0/33",
        ",",
        "com",
    ),
    *("*example.com", "example.*", "0.0.0.0/0", "localhost", "1.2.3.4/"),
]


_TARGETS = [
    *(
        "https://example.com",
        "http://example.com",
        "https://sub.example.com:6443",
        "https://10.1.2.3:6443",
    ),
    *(
        "http://10.1.2.3",
        "https://localhost:6443",
        "https://127.0.0.1",
        "https://[::1]:443",
        "http://[fd00::1]",
    ),
    *("https://notexample.com", "https://EXAMPLE.com", "https://example.com.", "https://127.1.2.3"),
]


_PROXIES = [
    "",
    "http://proxy:3128",
    "proxy:3128",
    "https://proxy",
    "socks5://proxy",
    "://",
    "ftp://proxy",
]


def _headers(given: Any) -> Mapping[str, list[str]]:
    who = Impersonation(
        user=given["User"],
        uid=given["UID"],
        groups=tuple(given["Groups"]),
        extra={key: tuple(values) for key, values in given["Extra"].items()},
    )
    found: dict[str, list[str]] = {}
    for name, value in impersonation_headers(who):
        found.setdefault("-".join(part.capitalize() for part in name.split("-")), []).append(value)
    return found


def _proxy(given: Any) -> str | None:
    environ = {
        "HTTP_PROXY": given["HTTP"],
        "HTTPS_PROXY": given["HTTPS"],
        "NO_PROXY": given["None"],
    }
    return ProxyRules.from_environ(environ).for_url(given["URL"])


def _cases() -> Iterator[Case]:
    for user, uid, groups, extra in itertools.product(
        ("", "me", "a b"),
        ("", "u"),
        ([], ["g"], ["g", "h"]),
        ({}, {"k": ["1", "2"]}, {"A/b%": ["1"]}),
    ):
        who = {"User": user, "UID": uid, "Groups": groups, "Extra": extra}
        yield Case("impersonation.headers", who)
    for values in _WARNINGS:
        yield Case("warnings.parse", values)
    for excluded, url in itertools.product(_NO_PROXY, _TARGETS):
        rules = {"HTTP": "http://plain:1", "HTTPS": "http://secure:2", "None": excluded}
        yield Case("proxy.for", {**rules, "URL": url})
    for proxy in _PROXIES:
        rules = {"HTTP": proxy, "HTTPS": proxy, "None": "", "URL": "https://example.com"}
        yield Case("proxy.for", rules)


AREA = Area(
    _cases,
    {
        "impersonation.headers": _headers,
        "warnings.parse": lambda given: [
            [each.code, each.agent, each.text] for each in parse_warnings(given)
        ],
        "proxy.for": _proxy,
    },
)
