"""Finds the functions of a pack.

The entry is a module (`nodes.py`), a package (`greeter/__init__.py`) or a wheel. It has a table `nodes`, else
`NODES`, from type id to a function of `ctx`.
"""

import importlib
import os
import sys


def _names_in(archive):
    """Top-level modules and packages of a wheel."""
    import zipfile  # Slow to load, and few packs need it.

    with zipfile.ZipFile(archive) as wheel:
        tops = {name.split('/')[0] for name in wheel.namelist()}
    return sorted(top.removesuffix('.py') for top in tops if not top.endswith(('.dist-info', '.data')))


def _located(file):
    """The path to import from, and the module names."""
    if file.endswith(('.whl', '.zip')):
        return file, _names_in(file)
    folder, name = os.path.split(file)
    if name == '__init__.py':
        folder, name = os.path.split(folder)
    return folder, [name.removesuffix('.py')]


def _nodes_of(module):
    for name in ('nodes', 'NODES'):
        table = getattr(module, name, None)
        if isinstance(table, dict):
            return {str(type_id): node for type_id, node in table.items() if callable(node)}
    return {}


def load(folder, entry):
    root, names = _located(os.path.join(folder, entry))
    sys.path[:0] = [root] if root == folder else [root, folder]
    nodes = {}
    for name in names:
        nodes.update(_nodes_of(importlib.import_module(name)))
    return nodes
