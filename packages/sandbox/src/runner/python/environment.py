"""The environment of a pack: granted variables, and output that becomes its log."""

import io
import os
import sys
from collections.abc import Mapping

from channel import ask
from scope import current


class Environment(Mapping):
    """Each granted name is read through the host, so that the host sees its use."""

    def __init__(self, names):
        self._names = tuple(names)

    def __getitem__(self, name):
        if name not in self._names:
            raise KeyError(name)
        invocation = current()
        call = 0 if invocation is None else invocation.next_call()
        identity = None if invocation is None else invocation.id
        value = ask({'id': identity, 'call': call, 'method': 'env.read', 'args': [name]})
        if value is None:
            raise KeyError(name)
        return value

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)


class LogStream(io.TextIOBase):
    """Logs printed lines."""

    def __init__(self, level):
        self._level = level
        self._line = ''

    def writable(self):
        return True

    def write(self, text):
        *lines, self._line = (self._line + text).split('\n')
        self._line = self._line[-8192:]
        invocation = current()
        for line in lines:
            if invocation is not None:
                invocation.log(self._level, line)
        return len(text)


def furnish(names):
    # Clearing also removes them from the process, so packs see no variables of the launcher.
    os.environ.clear()
    os.environ = Environment(names)
    os.getenv = os.environ.get
    sys.argv = ['']
    sys.stdin = None
    sys.stdout, sys.stderr = LogStream('info'), LogStream('error')
