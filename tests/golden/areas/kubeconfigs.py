"""Kubeconfig files: loading, merging, overriding, and the resulting client configuration."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kubeloop.config import (
    Cluster,
    ClusterConfig,
    Kubeconfig,
    KubeconfigFiles,
    Overrides,
    User,
    check_kubeconfig,
    minify,
)
from kubeloop.config.errors import as_one_error
from kubeloop.config.loading import load_files
from tests.golden.case import Area, Case

_HEAD = "apiVersion: v1\nkind: Config\n"
_ONE = (
    _HEAD
    + """\
current-context: one
contexts:
- {name: one, context: {cluster: one, user: one, namespace: shop}}
- {name: two, context: {cluster: two, user: two}}
clusters:
- {name: one, cluster: {server: 'https://one:6443', insecure-skip-tls-verify: true}}
- {name: two, cluster: {server: 'http://two', proxy-url: 'http://proxy:3128'}}
users:
- {name: one, user: {token: secret}}
- {name: two, user: {username: u, password: p}}
"""
)
_TWO = (
    _HEAD
    + """\
current-context: two
contexts:
- {name: one, context: {cluster: three, user: three}}
- {name: three, context: {cluster: three, user: three, namespace: other}}
clusters:
- {name: one, cluster: {server: 'https://changed', tls-server-name: name}}
- {name: three, cluster: {server: 'https://three', certificate-authority: ca.crt}}
users:
- {name: one, user: {username: x}}
- {name: three, user: {client-certificate: certs/c.crt, client-key: ../k.key}}
"""
)


def _user(text: str) -> str:
    return (
        f"{_HEAD}current-context: c\n"
        "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
        "clusters: [{name: c, cluster: {server: 'https://c'}}]\n"
        f"users: [{{name: u, user: {{{text}}}}}]\n"
    )


def _cluster(text: str) -> str:
    return (
        f"{_HEAD}current-context: c\n"
        "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
        f"clusters: [{{name: c, cluster: {{{text}}}}}]\n"
        "users: [{name: u, user: {token: t}}]\n"
    )


def _context(text: str, current: str = "c") -> str:
    return (
        f"{_HEAD}current-context: {current}\n"
        f"contexts: [{{name: c, context: {{{text}}}}}]\n"
        "clusters: [{name: c, cluster: {server: 'https://c'}}]\n"
        "users: [{name: u, user: {token: t}}]\n"
    )


_EXEC = "command: {command}, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never"
_USERS = [
    *("", "token: t", "token: ''", "tokenFile: t.txt", "token: t, tokenFile: t.txt", "token: 5"),
    *("username: a, password: b", "username: a", "password: b", "token: t, username: a"),
    *("client-certificate: c.crt", "client-certificate: c.crt, client-key: k.key", "as: other"),
    *(
        "client-certificate: gone.crt, client-key: k.key",
        "client-certificate-data: YQ==",
        "as-groups: [g]",
    ),
    *(
        "client-certificate-data: YQ==, client-key-data: Yg==",
        "client-certificate-data: '!'",
        "as-uid: u",
    ),
    *(
        "client-certificate: c.crt, client-certificate-data: YQ==, client-key: k.key",
        "client-key: k.key",
    ),
    *(
        "token: t, as: other, as-groups: [g, h]",
        "token: t, as-user-extra: {a: [b]}",
        "unknown: field",
    ),
    *("token: t, client-certificate: c.crt, client-key: k.key", "exec: {command: x}", "exec: {}"),
    f"exec: {{{_EXEC.format(command='plugin')}}}",
    f"exec: {{{_EXEC.format(command='./plugin')}}}",
    f"exec: {{{_EXEC.format(command='bin/plugin')}}}",
    f"exec: {{{_EXEC.format(command='/abs/plugin')}}}",
    f"token: t, exec: {{{_EXEC.format(command='plugin')}}}",
    "exec: {command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Sometimes}",
    "exec: {command: x, apiVersion: client.authentication.k8s.io/v1beta1}",
    "exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1, interactiveMode: Never}",
]
_CLUSTERS = [
    *(
        "",
        "server: ''",
        "server: 'https://c'",
        "server: c",
        "server: 'http://c/prefix?q=1'",
        "server: 5",
    ),
    *(
        "server: 'https://c', certificate-authority: ca.crt",
        "server: 'https://c', certificate-authority: gone",
    ),
    "server: 'https://c', certificate-authority-data: YQ==",
    "server: 'https://c', certificate-authority: ca.crt, certificate-authority-data: YQ==",
    "server: 'https://c', insecure-skip-tls-verify: true",
    "server: 'https://c', insecure-skip-tls-verify: true, certificate-authority: ca.crt",
    *("server: 'https://c', proxy-url: 'http://p'", "server: 'https://c', proxy-url: 'socks5://p'"),
    *("server: 'https://c', proxy-url: 'ftp://p'", "server: 'https://c', proxy-url: 'p'"),
    *("server: 'https://c', tls-server-name: n", "server: 'https://c', disable-compression: true"),
    *("insecure-skip-tls-verify: true", "server: 'https://c', insecure-skip-tls-verify: 'yes'"),
]
_CONTEXTS = [
    *(
        "cluster: c, user: u",
        "cluster: c",
        "user: u",
        "",
        "cluster: gone, user: u",
        "cluster: c, user: gone",
    ),
    *(
        "cluster: c, user: u, namespace: n",
        "cluster: c, user: u, namespace: 'N!'",
        "cluster: c, user: u, namespace: ''",
    ),
]
_TEXTS = [
    *(
        "",
        "{}",
        "a",
        "[]",
        "1",
        "null",
        _HEAD,
        "kind: Config",
        "apiVersion: v2\nkind: Config",
        "kind: Pod",
    ),
    *(
        "{",
        "a: b: c",
        "apiVersion: v1\nkind: Config\nunknown: 1",
        f"{_HEAD}contexts: 5",
        f"{_HEAD}users: [5]",
    ),
    *(
        f"{_HEAD}clusters: [{{name: a}}]",
        f"{_HEAD}contexts: [{{name: ''}}]",
        '{"kind": "Config", "apiVersion": "v1"}',
    ),
    f"{_HEAD}users: [{{name: a, user: {{token: x}}}}, {{name: a, user: {{token: y}}}}]",
    f"{_HEAD}clusters: null\nusers: null",
    f"---\n{_HEAD}current-context: a\n",
    f"{_HEAD}current-context: a\n---\n{_HEAD}current-context: b\n",
    f"{_HEAD}preferences: {{colors: true}}\nextensions: []\n",
    f"\ufeff{_HEAD}",
    f"{_HEAD}current-context: a\ncurrent-context: b\n",
]
_FILES = {"ca.crt": "pem", "c.crt": "pem", "k.key": "pem", "t.txt": "from-file\n"}
_OVERRIDES: list[dict[str, Any]] = [
    {},
    {"context": "two"},
    {"context": "three"},
    {"context": "gone"},
    {"cluster": "two"},
    {"cluster": "gone"},
    {"user": "two"},
    {"user": "gone"},
    {"namespace": "flag"},
    {"context": "two", "user": "one"},
    *({"timeout": each} for each in ("0", "5", "1m30s", "5s", "x", "-1", "1.5")),
    *(
        {"info": each}
        for each in (
            {"server": "https://flag"},
            {"server": "https://flag", "tls-server-name": "n"},
            {"tls-server-name": "n"},
            {"insecure": "true"},
            {"certificate-authority": "flag.crt"},
            {"token": "flag"},
            {"username": "flag", "password": "flag"},
            {"as": "flag"},
            {"default-server": "http://default"},
            {"proxy-url": "http://flag"},
            {"server": "https://flag", "token": "flag"},
        )
    ),
]


def _case(operation: str, files: dict[str, str], **more: Any) -> Case:
    return Case(
        operation, {"files": files, "explicit": "", "listed": ["one"], "overrides": {}, **more}
    )


def _cases() -> Iterator[Case]:
    both = {"one": _ONE, "sub/two": _TWO, **{f"sub/{name}": text for name, text in _FILES.items()}}
    for listed in (["one"], ["one", "sub/two"], ["sub/two", "one"], ["gone", "one"], ["gone"], []):
        for operation in ("kubeconfig.load", "kubeconfig.check", "kubeconfig.use"):
            yield _case(operation, both, listed=listed)
        yield _case("kubeconfig.minify", both, listed=listed)
    for explicit in ("one", "gone", "sub/two"):
        for operation in ("kubeconfig.load", "kubeconfig.use"):
            yield _case(operation, both, explicit=explicit)
    for overrides in _OVERRIDES:
        yield _case("kubeconfig.use", both, listed=["one"], overrides=overrides)
        yield _case("kubeconfig.use", both, listed=["sub/two", "one"], overrides=overrides)
    for text in _TEXTS:
        for operation in ("kubeconfig.load", "kubeconfig.check"):
            yield _case(operation, {"one": text})
        yield _case("kubeconfig.load", {"one": text, "two": _ONE}, listed=["one", "two"])
    for text in [*map(_user, _USERS), *map(_cluster, _CLUSTERS), *map(_context, _CONTEXTS)]:
        for operation in ("kubeconfig.load", "kubeconfig.check", "kubeconfig.use"):
            yield _case(operation, {"one": text, **_FILES})
    for current in ("", "gone", "''", "c"):
        text = _context("cluster: c, user: u", current=current)
        for operation in ("kubeconfig.check", "kubeconfig.use", "kubeconfig.minify"):
            yield _case(operation, {"one": text})


def _folder(use: Callable[[Any, Callable[[], Kubeconfig]], Any]) -> Callable[[Any], Any]:
    def answer(given: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in given["files"].items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            explicit = given["explicit"]
            files = KubeconfigFiles(
                explicit=str(Path(folder, explicit)) if explicit else "",
                precedence=tuple(str(Path(folder, name)) for name in given["listed"]),
            )
            return _without(folder, use(given, lambda: _load(files)))

    return answer


def _load(files: KubeconfigFiles) -> Kubeconfig:
    loaded = load_files(files)
    if loaded.problems:
        raise as_one_error(loaded.problems)
    return loaded.config


def _without(folder: str, value: Any) -> Any:
    if isinstance(value, str):
        return value.replace(folder, "FOLDER")
    if isinstance(value, dict):
        return {key: _without(folder, each) for key, each in value.items()}
    return [_without(folder, each) for each in value] if isinstance(value, list) else value


def _describe(config: Kubeconfig) -> Any:
    return {
        "current": config.current_context,
        "clusters": {
            name: {
                "server": each.server,
                "ca": each.certificate_authority,
                "caData": each.certificate_authority_data.decode(),
                "insecure": each.insecure_skip_tls_verify,
                "tlsServerName": each.tls_server_name,
                "proxy": each.proxy_url,
            }
            for name, each in config.clusters.items()
        },
        "users": {
            name: {
                "token": each.token,
                "tokenFile": each.token_file,
                "username": each.username,
                "password": each.password,
                "certificate": each.client_certificate,
                "key": each.client_key,
                "as": each.impersonate,
                "groups": list(each.impersonate_groups),
                "command": each.exec.command if each.exec else "",
            }
            for name, each in config.users.items()
        },
        "contexts": {
            name: {"cluster": each.cluster, "user": each.user, "namespace": each.namespace}
            for name, each in config.contexts.items()
        },
    }


def _overrides(given: Any) -> Overrides:
    info = given.get("info", {})
    return Overrides(
        context=given.get("context", ""),
        cluster=given.get("cluster", ""),
        user=given.get("user", ""),
        namespace=given.get("namespace", ""),
        timeout=given.get("timeout", ""),
        cluster_info=Cluster(
            server=info.get("server", ""),
            tls_server_name=info.get("tls-server-name", ""),
            insecure_skip_tls_verify=info.get("insecure") == "true",
            certificate_authority=info.get("certificate-authority", ""),
            proxy_url=info.get("proxy-url", ""),
        ),
        cluster_defaults=Cluster(server=info.get("default-server", "")),
        user_info=User(
            token=info.get("token", ""),
            username=info.get("username", ""),
            password=info.get("password", ""),
            impersonate=info.get("as", ""),
        ),
    )


def _select(given: Any, load: Callable[[], Kubeconfig]) -> Any:
    config = ClusterConfig.from_kubeconfig(
        load(), overrides=_overrides(given["overrides"]), anonymous=True
    )
    who = config.impersonate
    return {
        "server": config.server,
        "namespace": config.namespace,
        "token": config.token,
        "tokenFile": config.token_file,
        "username": config.username,
        "password": config.password,
        "ca": config.ca_file,
        "caData": config.ca.decode(),
        "insecure": config.insecure_skip_tls_verify,
        "tlsServerName": config.tls_server_name,
        "certificate": config.client_certificate_file,
        "key": config.client_key_file,
        "as": who.user if who else "",
        "groups": list(who.groups) if who else [],
        "timeout": round(config.timeout * 1000),
        "proxy": bool(config.proxy_url),
        "compression": not config.disable_compression,
    }


AREA = Area(
    _cases,
    {
        "kubeconfig.load": _folder(lambda given, load: _describe(load())),
        "kubeconfig.check": _folder(lambda given, load: check_kubeconfig(load())),
        "kubeconfig.use": _folder(_select),
        "kubeconfig.minify": _folder(lambda given, load: _describe(minify(load()))),
    },
)
