/** Native code: Python with `ctypes` and without any guard. */
import type { Dialect, HostileModule, StayingModule } from './hostile-module.ts';

const PRELUDE = `
import ctypes, json, mmap, os, resource, signal, socket, struct, sys, threading, time
X86 = os.uname().machine == 'x86_64'
libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    'kill': (62, 129), 'tkill': (200, 130), 'rt_sigqueueinfo': (129, 138), 'pidfd_open': (434, 434),
    'pidfd_send_signal': (424, 424), 'ptrace': (101, 117), 'process_vm_readv': (310, 270), 'clone': (56, 220),
    'clone3': (435, 435), 'unshare': (272, 97), 'setns': (308, 268), 'keyctl': (250, 219), 'add_key': (248, 217),
    'request_key': (249, 218), 'shmget': (29, 194), 'semget': (64, 190), 'msgget': (68, 186), 'mq_open': (240, 180),
    'io_uring_setup': (425, 425), 'userfaultfd': (323, 282), 'bpf': (321, 280), 'perf_event_open': (298, 241),
    'memfd_create': (319, 279), 'memfd_secret': (447, 447), 'fanotify_init': (300, 262), 'inotify_init1': (294, 26),
    'open_by_handle_at': (304, 265), 'mount': (165, 40), 'pivot_root': (155, 41), 'chroot': (161, 51),
    'umount2': (166, 39), 'fsopen': (430, 430), 'syslog': (103, 116), 'personality': (135, 92),
    'splice': (275, 76), 'vmsplice': (278, 75), 'sched_setattr': (314, 274), 'setpriority': (141, 140),
    'ioprio_set': (251, 30), 'mlockall': (151, 230), 'setsid': (112, 157), 'setpgid': (109, 154),
    'sethostname': (170, 161), 'seccomp': (317, 277), 'landlock_create_ruleset': (444, 444), 'mknodat': (259, 33),
    'timer_create': (222, 107), 'kcmp': (312, 272), 'quotactl': (179, 60), 'setuid': (105, 146),
}
def call(name, *args):
    given = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    result = libc.syscall(ctypes.c_long(NUMBERS[name][0 if X86 else 1]), *given)
    if result < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def prctl(*args):
    if libc.prctl(*(ctypes.c_ulong(arg) for arg in (*args, 0, 0, 0, 0)[:5])) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def say(message):
    text = json.dumps([message, []]).encode()
    os.write(4, struct.pack('>II', len(text), len(text)) + text)
`;

const indented = (text: string): string => text.replace(/^/gm, '    ');

export const PYTHON: Dialect = {
  together: (modules) =>
    [
      PRELUDE,
      'said = []',
      ...modules.map(({ name, body }) =>
        [
          `def module():\n${indented(body)}\n    return True`,
          `try: said.append([${JSON.stringify(name)}, module() is not False, ''])`,
          `except BaseException as error: said.append([${JSON.stringify(name)}, False, repr(error)])`,
        ].join('\n'),
      ),
      `say(said)`,
    ].join('\n'),
  alone: ({ body }) =>
    [PRELUDE, `def module():\n${indented(body)}`, 'try: module()', 'except BaseException: pass'].join('\n') +
    `\ntry: say('there')\nexcept BaseException: pass\nwhile True: pass`,
};

const call = (name: string, ...args: readonly (number | string)[]): HostileModule => ({
  name: `${name}(${args.join(', ')})`,
  body: `call(${[`'${name}'`, ...args].join(', ')})`,
});

const SIGNALS: readonly HostileModule[] = [
  { name: 'kill of its group', body: 'os.kill(0, signal.SIGKILL)' },
  { name: 'kill of everyone', body: 'os.kill(-1, signal.SIGKILL)' },
  { name: 'kill of the first process', body: 'os.kill(1, signal.SIGKILL)' },
  { name: 'kill of its parent', body: 'os.kill(os.getppid(), signal.SIGKILL)' },
  { name: 'killpg', body: 'os.killpg(os.getpgrp(), signal.SIGTERM)' },
  call('kill', 0, 9),
  call('tkill', 1, 9),
  call('rt_sigqueueinfo', 1, 9, 0),
  call('pidfd_open', 1, 0),
  call('pidfd_send_signal', 3, 9, 0, 0),
  call('setsid'),
  call('setpgid', 0, 0),
  call('timer_create', 1, 0, 0),
  { name: 'a signal by the owner of a pipe', body: 'import fcntl\nfcntl.fcntl(os.pipe()[0], 8, 1)' },
  { name: 'a signal by ioctl', body: `import fcntl\nfcntl.ioctl(4, 0x8901, struct.pack('i', 1))` },
  { name: 'typing into a terminal', body: `import fcntl\nfcntl.ioctl(0, 0x5412, b'x')` },
  {
    name: 'a signal to a thread of the first process',
    body: `libc.syscall(ctypes.c_long(234 if X86 else 131), 1, 1, 9)\nreturn False`,
  },
];

const PROCESSES: readonly HostileModule[] = [
  { name: 'fork', body: 'if os.fork() == 0: os._exit(0)' },
  { name: 'posix_spawn', body: `os.posix_spawn('/python/bin/python3', ['x'], {})` },
  call('clone', 17, 0, 0, 0, 0),
  call('clone', 0x10000011, 0, 0, 0, 0),
  call('clone3', 0, 88),
  call('unshare', 0x10000000),
  call('setns', 3, 0),
  call('ptrace', 16, 1, 0, 0),
  call('process_vm_readv', 1, 0, 0, 0, 0, 0),
  call('kcmp', 1, 1, 0, 0, 0),
  call('setuid', 0),
  call('personality', 0x0400000),
  call('seccomp', 1, 0, 0),
  { name: 'a thread', body: 'threading.Thread(target=print).start()' },
  { name: 'no signal when the parent dies', body: 'prctl(1, 0)' },
  { name: 'adopting orphans', body: 'prctl(36, 1)' },
  { name: 'letting itself be traced', body: 'prctl(0x59616D61, -1)' },
  { name: 'a higher priority', body: 'os.nice(-5)' },
  call('setpriority', 0, 0, -5),
  call('sched_setattr', 0, 0, 0),
  call('ioprio_set', 1, 0, 0),
];

const KERNEL: readonly HostileModule[] = [
  call('keyctl', 0, -3, 0),
  call('keyctl', 11, -3, 0, 0),
  call('add_key', `b'user'`, `b'k'`, `b'v'`, 1, -4),
  call('request_key', `b'user'`, `b'k'`, 0, -3),
  call('io_uring_setup', 8, `ctypes.create_string_buffer(256)`),
  call('userfaultfd', 1),
  call('bpf', 0, 0, 0),
  call('perf_event_open', 0, 0, -1, -1, 0),
  call('fanotify_init', 0, 0),
  call('inotify_init1', 0),
  call('open_by_handle_at', 3, 0, 0),
  call('landlock_create_ruleset', 0, 0, 1),
  call('syslog', 3, `ctypes.create_string_buffer(64)`, 64),
  call('quotactl', 0, 0, 0, 0),
  ...[1, 2, 10, 16, 17, 38, 40].map((family) => ({
    name: `a socket of family ${family}`,
    body: `socket.socket(${family}, ${family === 16 || family === 17 ? 3 : family === 38 ? 5 : 1})`,
  })),
  { name: 'a pair of sockets', body: 'socket.socketpair()' },
  {
    name: 'a call of the other table',
    body: `if not X86: raise OSError('not on this machine')\nif libc.syscall(ctypes.c_long(0x40000000 | 39)) < 0: raise OSError('refused')`,
  },
  {
    name: 'a call of the 32-bit table',
    body: `if not X86: raise OSError('not on this machine')
room = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
room.write(b'\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3')
run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(room)))
if run() < 0: raise OSError('refused')`,
  },
];

const FILES: readonly HostileModule[] = [
  // Before others open some.
  {
    name: 'descriptors of the launchers',
    body: `
def is_open(number):
    try: return bool(os.fstat(number))
    except OSError: return False
found = [number for number in range(7, 64) if is_open(number)]
return len(found) > 0 or (is_open(6) and len(os.read(6, 1)) > 0)`,
  },
  ...[
    '/etc/passwd',
    '/proc/1/environ',
    '/proc/self/status',
    '/sys/kernel',
    '/dev/null',
    '/root',
    '/tmp',
    '/bin/sh',
  ].map((file) => ({ name: `the path ${file}`, body: `os.stat('${file}')` })),
  ...['/x', '/pack/x', '/runner/x', '/dev/shm/x', '/python/x'].map((file) => ({
    name: `writing ${file}`,
    body: `os.open('${file}', os.O_CREAT | os.O_WRONLY)`,
  })),
  call('mount', 0, `b'/'`, 0, 0x1020, 0),
  call('umount2', `b'/pack'`, 2),
  call('pivot_root', `b'/'`, `b'/'`),
  call('chroot', `b'/pack'`),
  call('fsopen', `b'proc'`, 0),
  call('mknodat', -100, `b'/x'`, 0x2180, 0x103),
  call('sethostname', `b'x'`, 1),
  { name: 'the name of the machine', body: `return os.uname().nodename != 'pack'` },
  { name: 'the environment of the launchers', body: `return 'HOME' in os.environ or 'USER' in os.environ` },
];

const MEMORY: readonly HostileModule[] = [
  call('shmget', 0, 1 << 30, 0o1600),
  call('semget', 0, 32_000, 0o1600),
  call('msgget', 0, 0o1600),
  call('mq_open', `b'x'`, 0o102, 0o600, 0),
  call('memfd_create', `b'x'`, 0),
  call('memfd_secret', 0),
  call('mlockall', 3),
  call('splice', 3, 0, 4, 0, 1, 0),
  call('vmsplice', 4, 0, 0, 0),
  { name: 'shared pages', body: 'mmap.mmap(-1, 1 << 20)' },
  { name: 'private pages', body: 'mmap.mmap(-1, 2 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)' },
  {
    name: 'the break',
    body: 'libc.sbrk.restype = ctypes.c_long\nif libc.sbrk(ctypes.c_long(2 << 30)) == -1: raise MemoryError()',
  },
  { name: 'one large block', body: 'bytearray(2 << 30)' },
  { name: 'larger pipes', body: 'import fcntl\nfcntl.fcntl(os.pipe()[1], 1031, 1 << 20)' },
  {
    name: 'many descriptors',
    body: `
made = []
try:
    while len(made) < 1000: made += os.pipe()
finally:
    for each in made: os.close(each)`,
  },
  ...['DATA', 'NOFILE', 'NPROC', 'FSIZE'].map((name) => ({
    name: `raising the limit of ${name}`,
    body: `resource.setrlimit(resource.RLIMIT_${name}, (1 << 40, 1 << 40))`,
  })),
  { name: 'limits of the first process', body: 'resource.prlimit(1, resource.RLIMIT_CPU, (1, 1))' },
];

/** What has to be refused, call by call. */
export const PYTHON_MODULES = {
  files: FILES,
  signals: SIGNALS,
  processes: PROCESSES,
  kernel: KERNEL,
  memory: MEMORY,
} as const;

/** What wants to stay when the host ends it. */
export const PYTHON_STAYING: readonly StayingModule[] = [
  { name: 'no signal when the parent dies, then a loop', body: 'prctl(1, 0)' },
  {
    name: 'every signal ignored and blocked',
    body: 'for each in range(1, 64):\n    try: signal.signal(each, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))',
  },
  { name: 'its pipes closed', body: `say('there')\nos.closerange(0, 64)` },
  {
    name: 'another program in its place',
    body: `os.execv('/python/bin/python3', ['python3', '-I', '-S', '-c', ${JSON.stringify("import os, struct\nos.write(4, struct.pack('>II', 12, 12) + b'[\\\"there\\\",[]]')\nwhile True: pass")}])`,
  },
  {
    name: 'a process of its own first',
    body: 'if os.fork() > 0: os._exit(0)\nos.setsid()\nif os.fork() > 0: os._exit(0)',
  },
];
