import { type Escape, failed, memory, refused, stopped, timeout } from './escape.ts';

const files = stopped('host-fs-escape');
const processes = stopped('host-process-escape');
const network = stopped('network-escape');

/** Statements that must raise; when they do not, the module has escaped. */
const attempt = (statements: string): string =>
  `try:\n    ${statements}\n    return {'escaped': True}\nexcept BaseException as error:\n    return {'escaped': False, 'why': str(error)}`;

/** Frames in Python, for what tries to speak for the runner. */
const FORGED = `import json, os, struct
def say(message):
    text = json.dumps([message, []]).encode()
    os.write(4, struct.pack('>II', len(text), len(text)) + text)`;

const FILES: readonly Escape[] = [
  { name: 'files without a grant', body: `ctx.file.readFile('a')`, expected: refused },
  {
    name: 'a path out of the granted folder',
    body: `ctx.file.readFile('../a')`,
    grants: ['fs.read'],
    expected: files,
  },
  { name: 'a file of the machine', body: `open('/etc/passwd').read()`, expected: files },
  { name: 'a file when loading', before: `open('/etc/passwd')`, body: '', expected: files },
  { name: 'dots', body: `open('/pack/../etc/passwd')`, expected: files },
  { name: 'pathlib', body: `import pathlib\npathlib.Path('/etc/hostname').read_text()`, expected: files },
  { name: 'os.open', body: `import os\nos.open('/x', os.O_CREAT | os.O_WRONLY)`, expected: files },
  { name: 'writing into the pack', body: `open('/pack/nodes.py', 'w')`, expected: files },
  { name: 'a descriptor', body: `open(4, 'wb')`, expected: files },
  { name: 'a list of the root', body: `import os\nreturn os.listdir('/')`, expected: files },
  { name: 'the runner', body: `open('/runner/python/channel.py')`, expected: files },
  { name: 'a temporary file', body: `import tempfile\ntempfile.mkdtemp()`, expected: files },
  { name: 'removing', body: `import shutil\nshutil.rmtree('/pack')`, expected: files },
  { name: 'a link', body: `import os\nos.symlink('/etc', '/pack/x')`, expected: files },
  {
    name: 'what is installed',
    body: `import os\nos.listdir(os.path.dirname(os.__file__) + '/site-packages')`,
    expected: files,
  },
  {
    name: 'the library with a patched realpath',
    body: `import os, posixpath\nposixpath.lstat = posixpath.os.lstat = None\ntry:\n    open('/etc/passwd')\n    return {'escaped': True}\nexcept BaseException:\n    return {'escaped': False}`,
    expected: 'contained',
  },
];

const PROCESSES: readonly Escape[] = [
  { name: 'subprocess', body: `import subprocess\nsubprocess.run(['id'])`, expected: processes },
  {
    name: 'subprocess even when granted',
    body: `import subprocess\nsubprocess.run(['id'])`,
    grants: ['subprocess'],
    expected: processes,
  },
  { name: 'os.system', body: `import os\nos.system('id')`, expected: processes },
  { name: 'fork', body: `import os\nos.fork()`, expected: processes },
  { name: 'exec', body: `import os\nos.execv('/python/bin/python3', ['x'])`, expected: processes },
  { name: 'a signal', body: `import os\nos.kill(1, 9)`, expected: processes },
  { name: 'ctypes', body: 'import ctypes', expected: processes },
  { name: 'ctypes when loading', before: 'from _ctypes import dlopen', body: '', expected: processes },
  {
    name: 'raising the limits',
    body: `import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))`,
    expected: processes,
  },
  {
    name: 'fork below the audit hook',
    body: attempt(
      `import _posixsubprocess, os; r, w = os.pipe(); _posixsubprocess.fork_exec([b'/python/bin/python3'], [b'/python/bin/python3'], True, (), None, None, -1, -1, -1, -1, -1, -1, r, w, False, False, -1, None, None, None, -1, None, False)`,
    ),
    expected: 'contained',
  },
  {
    name: 'a thread',
    body: attempt(`import _thread; _thread.start_new_thread(print, ())`),
    expected: 'contained',
  },
  { name: 'setuid', body: attempt(`import os; os.setuid(0)`), expected: 'contained' },
  {
    name: 'the environment',
    body: `import os\nreturn {'escaped': len(os.environ) > 0 or os.getenv('PATH') is not None or len(os.environb) > 0}`,
    expected: 'contained',
  },
  { name: 'ending the interpreter', body: `import sys\nsys.exit(0)`, expected: failed },
  { name: 'ending the process', body: `import os\nos._exit(0)`, expected: failed },
  { name: 'a crash', body: `import faulthandler\nfaulthandler._read_null()`, expected: failed },
];

const NETWORK: readonly Escape[] = [
  { name: 'fetch without a grant', body: `ctx.fetch('http://169.254.169.254/')`, expected: refused },
  {
    name: 'the metadata service with a grant',
    body: `ctx.fetch('http://169.254.169.254/')`,
    grants: ['net.outbound'],
    expected: { code: 'address_not_allowed' },
  },
  { name: 'a socket', body: `import socket\nsocket.socket()`, expected: network },
  { name: 'a name', body: `import socket\nsocket.getaddrinfo('example.com', 80)`, expected: network },
  {
    name: 'urllib',
    body: `import urllib.request\nurllib.request.urlopen('http://169.254.169.254/')`,
    expected: network,
  },
  {
    name: 'a raw socket below the module',
    body: `import _socket\n_socket.socket(2, 1, 0)`,
    expected: network,
  },
  {
    name: 'a socket even when granted',
    body: `import socket\nsocket.socket()`,
    grants: ['net.outbound'],
    expected: network,
  },
  { name: 'a database', body: attempt(`import sqlite3; sqlite3.connect('/x')`), expected: 'contained' },
];

const WIRE: readonly Escape[] = [
  {
    name: 'a forged result',
    before: FORGED,
    body: `say({'type': 'result', 'id': 'AAAA', 'end': {}})`,
    expected: processes,
  },
  {
    name: 'noise',
    body: `import os\nos.write(4, b'\\xff' * 64)`,
    expected: { code: 'sandbox_escape_attempt' },
  },
  {
    name: 'a method that was not offered',
    before: FORGED,
    body: `say({'type': 'call', 'mode': 'async', 'id': ctx.emit.__self__.id, 'call': 0, 'method': 'net.fetch', 'args': []})`,
    expected: processes,
  },
  { name: 'a result without end', body: `a = []\na.append(a)\nreturn {'a': a}`, expected: failed },
  { name: 'a result that is no data', body: `return {'a': object()}`, expected: failed },
  { name: 'a result that is too large', body: `return {'a': 'x' * 2_000_000}`, expected: failed },
  {
    name: 'an error that cannot be read',
    body: `class E(Exception):\n    def __str__(self): raise ValueError()\nraise E()`,
    expected: failed,
  },
  {
    name: 'a flood of logs',
    body: `for i in range(20_000): print('x' * 100)\nreturn {'escaped': False}`,
    expected: 'contained',
  },
  {
    name: 'a flood of events',
    body: `for i in range(12_000): ctx.emit({'i': i})\nreturn {'escaped': False}`,
    expected: 'contained',
  },
];

const RESOURCES: readonly Escape[] = [
  { name: 'an endless loop', body: 'while True: pass', expected: timeout },
  { name: 'an endless loop when loading', before: 'while True: pass', body: '', expected: timeout },
  { name: 'sleep', body: `import time\ntime.sleep(1000)`, expected: timeout },
  { name: 'a memory bomb', body: `a = []\nwhile True: a.append(bytearray(4_000_000))`, expected: memory },
  { name: 'one large block', body: `return {'n': len(bytearray(10**9))}`, expected: memory },
  {
    name: 'a memory bomb when loading',
    before: `a = []\nwhile True: a.append(bytearray(4_000_000))`,
    body: '',
    expected: memory,
  },
];

/** Hostile Python modules. */
export const PYTHON_ESCAPES = {
  files: FILES,
  processes: PROCESSES,
  network: NETWORK,
  wire: WIRE,
  resources: RESOURCES,
} as const;
