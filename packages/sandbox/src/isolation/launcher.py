"""Starts a pack's interpreter in its view, limited and filtered, which util-linux before 2.42 cannot do.

Runs outside the view, as the last trusted step. The mounts exist, and the root folder is the current one.
Arguments: file of the filter, uid or `-`, bytes of data or `-`, number of processes, then the program.
"""

import ctypes
import os
import resource
import sys

NEW_USER = 0x10000000
NOBODY = 65534
DESCRIPTORS_MAX = 64
PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 4, 22, 38
SECCOMP_MODE_FILTER = 2
KEYCTL_JOIN_SESSION_KEYRING = 1
KEYCTL = {'x86_64': 250, 'aarch64': 219}

libc = ctypes.CDLL(None, use_errno=True)


class Program(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('steps', ctypes.c_char_p)]


def check(result, what):
    if result < 0:
        number = ctypes.get_errno()
        sys.exit(f'{what}: {os.strerror(number)}')


def prctl(option, *values):
    check(libc.prctl(option, *(ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4])), f'prctl {option}')


def write(file, text):
    with open(file, 'w') as opened:
        opened.write(text)


def forget_host():
    """Hides the name of the host and the keys of its session. Best effort: the filter refuses keys altogether."""
    libc.sethostname(b'pack', 4)
    number = KEYCTL.get(os.uname().machine)
    if number is not None:
        libc.syscall(ctypes.c_long(number), ctypes.c_long(KEYCTL_JOIN_SESSION_KEYRING), None)


def become(uid):
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    # Otherwise a process that changed its uid may not write its own maps.
    prctl(PR_SET_DUMPABLE, 1)


def become_nobody_in_root():
    uid, gid = os.getuid(), os.getgid()
    check(libc.unshare(NEW_USER), 'unshare')
    write('/proc/self/setgroups', 'deny')
    write('/proc/self/uid_map', f'{NOBODY} {uid} 1')
    write('/proc/self/gid_map', f'{NOBODY} {gid} 1')
    os.chroot('.')
    os.chdir('/')


def limit(data, processes):
    """Sets limits in the user namespace of the child, where only its own processes count."""
    bounds = {'CORE': 0, 'FSIZE': 0, 'NOFILE': DESCRIPTORS_MAX, 'NPROC': int(processes)}
    if data != '-':
        bounds['DATA'] = int(data)
    for name, bound in bounds.items():
        resource.setrlimit(getattr(resource, f'RLIMIT_{name}'), (bound, bound))


def apply(steps):
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    program = Program(len(steps) // 8, steps)
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(program))


def main(filter_file, uid, data, processes, *program):
    with open(filter_file, 'rb') as opened:
        steps = opened.read()
    forget_host()
    if uid != '-':
        become(int(uid))
    become_nobody_in_root()
    limit(data, processes)
    apply(steps)
    os.execv(program[0], program)


main(*sys.argv[1:])
