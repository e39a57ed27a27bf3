"""Each admission plugin is one file and one entry."""

from __future__ import annotations

import importlib
import pkgutil
import re

from kubeloop_testing.server.admission import plugins
from kubeloop_testing.server.admission.plugin import Plugin
from kubeloop_testing.server.admission.plugins import PLUGINS

FILES = {module.name for module in pkgutil.iter_modules(plugins.__path__)}


def test_each_plugin_is_a_file_with_its_name() -> None:
    names = [re.sub(r"(?<!^)([A-Z])", r"_\1", plugin.name).lower() for plugin in PLUGINS]

    assert sorted(names) == sorted(FILES)


def test_each_file_of_a_plugin_makes_its_plugin_and_no_other() -> None:
    of_files = {
        name: [
            value.name
            for value in vars(importlib.import_module(f"{plugins.__name__}.{name}")).values()
            if isinstance(value, Plugin)
        ]
        for name in FILES
    }

    assert sorted(len(names) for names in of_files.values()) == [1] * len(PLUGINS)


def test_each_plugin_does_something() -> None:
    assert [
        plugin.name
        for plugin in PLUGINS
        if not (plugin.create or plugin.mutate or plugin.validate or plugin.delete)
    ] == []
