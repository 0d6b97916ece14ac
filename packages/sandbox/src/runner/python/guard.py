"""The inner layer: reports forbidden access that Python's audit events show. The operating system enforces
isolation.
"""

import os
import re
import sys

from channel import send
from scope import current_id

PROCESS = 'host-process-escape'
NETWORK = 'network-escape'
FILES = 'host-fs-escape'

# Prefixes of audit events; a dot or a dollar sign ends a name.
_ESCAPES = (
    (NETWORK, r'socket\.'),
    (PROCESS, r'(ctypes|subprocess|pty|resource)\.|signal\.pthread_kill'),
    (PROCESS, r'os\.(exec|spawn|posix_spawn|fork|kill|system$|chroot$)'),
    (FILES, r'(sqlite3|shutil|tempfile|syslog|fcntl)\.'),
    (FILES, r'os\.(chdir|chmod|chown|lchown|link|mkdir|remove|rename|rmdir|symlink|truncate|utime|setxattr|removexattr)$'),
)
_ESCAPES = tuple((kind, re.compile(beginning).match) for kind, beginning in _ESCAPES)

_PATHS = frozenset(('os.listdir', 'os.scandir', 'os.getxattr', 'os.listxattr'))
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_NATIVE = frozenset(('_ctypes', '_ctypes_test', '_testcapi', '_testinternalcapi', '_posixshmem'))

_realpath = os.path.realpath
_fspath = os.fspath


def violate(escape_kind, what):
    """Reports the violation to the host, which ends this process."""
    send({'type': 'violation', 'id': current_id(), 'escapeKind': escape_kind, 'what': what})
    error = PermissionError(f'The sandbox does not allow {what}.')
    error.code = 'sandbox_escape_attempt'
    error.details = {'escapeKind': escape_kind}
    raise error


class Guard:
    def __init__(self, roots):
        self._roots = tuple(_realpath(root) + os.sep for root in roots)
        self._hidden = ('/site-packages/', '/dist-packages/')

    def _is_inside(self, path):
        if isinstance(path, int):
            return False
        text = _fspath(path)
        found = _realpath(text if isinstance(text, str) else os.fsdecode(text))
        if any(part in f'{found}/' for part in self._hidden):
            return False
        return any(f'{found}/'.startswith(root) for root in self._roots)

    def _check_open(self, path, _mode, flags):
        if not self._is_inside(path) or (isinstance(flags, int) and flags & _WRITING):
            violate(FILES, f'opening {str(path)[:200]}')

    def _check_import(self, module, filename, *_):
        if module in _NATIVE or (filename and not self._is_stdlib(filename)):
            violate(PROCESS, f'the native module {module}')

    def _is_stdlib(self, filename):
        return _realpath(filename).startswith(self._roots[0])

    def __call__(self, event, args):
        if event == 'open':
            self._check_open(*args)
        elif event == 'import':
            self._check_import(*args)
        elif event in _PATHS:
            if args[0] is None or not self._is_inside(args[0]):
                violate(FILES, f'{event} of {str(args[0])[:200]}')
        else:
            for kind, begins in _ESCAPES:
                if begins(event):
                    violate(kind, event)


def close(folder):
    """After this, only the standard library and the pack can be read, and nothing can be started."""
    sys.addaudithook(Guard((os.path.dirname(os.__file__), folder)))
