/**
 * The system calls that a pack process may make. All others fail with ENOSYS: keys, SysV and POSIX queues,
 * io_uring, userfaultfd, sockets of any family, signals to others, tracing, mounts, new namespaces.
 *
 * I1 This is an allowlist: a call that is not named here is refused.
 * I2 No allowed call creates a second process, or memory that neither `RLIMIT_DATA` nor the resident size
 *    counts.
 */
/** One instruction of the kernel's filter language; jumps count the instructions that follow. */
type Step = readonly [code: number, operand: number, whenTrue?: number, whenFalse?: number];
type Steps = readonly Step[];

const LOAD_WORD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;
const STEP_BYTES = 8;
const JUMP_MAX = 255;

/** Offsets in the kernel's description of a call: its number, the machine, eight bytes for each argument. */
const CALL_NUMBER = 0;
const MACHINE = 4;
const argument = (index: number): number => 16 + 8 * index;
const upperHalfOf = (offset: number): number => offset + 4;

const load = (offset: number): Steps => [[LOAD_WORD, offset]];
const verdict = (value: number): Steps => [[RETURN, value]];

/** Runs `then`, which ends in a verdict, if the comparison has the wanted result; else skips it. */
function question(code: number, operand: number, then: Steps, isWhenFalse = false): Steps {
  if (then.length > JUMP_MAX) throw new RangeError(`A jump over ${then.length} steps is too long.`);
  const [whenTrue, whenFalse] = isWhenFalse ? [then.length, 0] : [0, then.length];
  return [[code, operand, whenTrue, whenFalse], ...then];
}

const whenEqual = (value: number, then: Steps): Steps => question(JUMP_EQUAL, value, then);
const unlessEqual = (value: number, then: Steps): Steps => question(JUMP_EQUAL, value, then, true);
const whenAnyBit = (bits: number, then: Steps): Steps => question(JUMP_ANY_BIT, bits, then);

/** Encodes the steps for the kernel; both supported machines are little-endian. */
function assemble(steps: Steps): Buffer {
  const bytes = Buffer.alloc(steps.length * STEP_BYTES);
  for (const [index, [code, operand, whenTrue = 0, whenFalse = 0]] of steps.entries()) {
    const at = index * STEP_BYTES;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(whenTrue, at + 2);
    bytes.writeUInt8(whenFalse, at + 3);
    bytes.writeUInt32LE(operand, at + 4);
  }
  return bytes;
}

const ALLOW = 0x7fff0000;
const refusal = (errno: number): number => 0x00050000 | errno;
const EPERM = 1;
const ENOSYS = 38;

type Numbers = Readonly<Record<string, number>>;

const tableOf = (text: string): Numbers =>
  Object.fromEntries([...text.matchAll(/(\w+):(\d+)/g)].map(([, name, number]) => [name, Number(number)]));

/** Calls that are allowed with any arguments. The init process of bwrap needs to wait for children. */
const ALLOWED: Readonly<Record<string, Numbers>> = {
  x64: tableOf(`
    read:0 write:1 open:2 close:3 stat:4 fstat:5 lstat:6 poll:7 lseek:8 mprotect:10 munmap:11 brk:12
    rt_sigaction:13 rt_sigprocmask:14 rt_sigreturn:15 pread64:17 readv:19 writev:20 access:21 pipe:22
    select:23 sched_yield:24 mremap:25 madvise:28 dup:32 dup2:33 pause:34 nanosleep:35 getitimer:36 alarm:37
    setitimer:38 getpid:39 getsockname:51 getpeername:52 getsockopt:55 execve:59 exit:60 wait4:61 uname:63 getcwd:79
    readlink:89 umask:95 gettimeofday:96 getrlimit:97 getrusage:98 sysinfo:99 times:100 getuid:102
    getgid:104 geteuid:107 getegid:108 getppid:110 getpgrp:111 getgroups:115 getresuid:118 getresgid:120
    getpgid:121 getsid:124 capget:125 rt_sigpending:127 rt_sigtimedwait:128 rt_sigsuspend:130
    sigaltstack:131 getpriority:140 sched_getparam:143 sched_getscheduler:145 sched_get_priority_max:146
    sched_get_priority_min:147 arch_prctl:158 gettid:186 time:201 futex:202 sched_getaffinity:204
    getdents64:217 set_tid_address:218 restart_syscall:219 fadvise64:221 clock_gettime:228 clock_getres:229
    clock_nanosleep:230 exit_group:231 epoll_wait:232 epoll_ctl:233 tgkill:234 waitid:247 openat:257 newfstatat:262
    readlinkat:267 faccessat:269 pselect6:270 ppoll:271 set_robust_list:273 get_robust_list:274
    epoll_pwait:281 eventfd2:290 epoll_create1:291 dup3:292 pipe2:293 getcpu:309 getrandom:318
    membarrier:324 statx:332 rseq:334 close_range:436 faccessat2:439 epoll_pwait2:441 futex_waitv:449
  `),
  arm64: tableOf(`
    getcwd:17 eventfd2:19 epoll_create1:20 epoll_ctl:21 epoll_pwait:22 dup:23 dup3:24 faccessat:48 openat:56
    close:57 pipe2:59 getdents64:61 lseek:62 read:63 write:64 readv:65 writev:66 pread64:67 pselect6:72
    ppoll:73 readlinkat:78 newfstatat:79 fstat:80 capget:90 exit:93 exit_group:94 waitid:95 set_tid_address:96
    futex:98 set_robust_list:99 get_robust_list:100 nanosleep:101 getitimer:102 setitimer:103
    clock_gettime:113 clock_getres:114 clock_nanosleep:115 sched_getscheduler:120 sched_getparam:121
    sched_getaffinity:123 sched_yield:124 sched_get_priority_max:125 sched_get_priority_min:126
    restart_syscall:128 tgkill:131 sigaltstack:132 rt_sigsuspend:133 rt_sigaction:134 rt_sigprocmask:135
    rt_sigpending:136 rt_sigtimedwait:137 rt_sigreturn:139 getpriority:141 getresuid:148 getresgid:150
    times:153 getpgid:155 getsid:156 getgroups:158 uname:160 getrlimit:163 getrusage:165 umask:166
    getcpu:168 gettimeofday:169 getpid:172 getppid:173 getuid:174 geteuid:175 getgid:176 getegid:177
    gettid:178 sysinfo:179 getsockname:204 getpeername:205 getsockopt:209 brk:214 munmap:215 mremap:216
    execve:221 fadvise64:223 mprotect:226 madvise:233 wait4:260 getrandom:278 membarrier:283 statx:291 rseq:293
    close_range:436 faccessat2:439 epoll_pwait2:441 futex_waitv:449
  `),
};

/** Calls that are allowed or refused depending on an argument. */
const JUDGED: Readonly<Record<string, Numbers>> = {
  x64: { mmap: 9, ioctl: 16, clone: 56, fcntl: 72, prctl: 157, prlimit64: 302 },
  arm64: { fcntl: 25, ioctl: 29, prctl: 167, clone: 220, mmap: 222, prlimit64: 261 },
};

const MACHINES: Readonly<Record<string, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

const allow = verdict(ALLOW);
const refuse = verdict(refusal(EPERM));
const oneOf = (values: readonly number[]): Steps => [
  ...values.flatMap((value) => whenEqual(value, allow)),
  ...refuse,
];

const CLONE_THREAD = 0x10000;
const CLONE_NAMESPACES = 0x7e020000;
const MAP_SHARED = 0x1;
/** Duplicating descriptors, and flags. Not leases and owners, which send signals, nor pipe sizes. */
const FCNTL = [0, 1, 2, 3, 4, 1030];
/** Close-on-exec, non-blocking, bytes available, terminal checks. */
const IOCTL = [0x5401, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451];
/** Names of threads and of mappings. */
const PRCTL = [15, 16, 0x53564d41];

const JUDGEMENTS: Readonly<Record<string, Steps>> = {
  /**
   * Only threads. `clone3` fails with ENOSYS, since no filter can read its arguments; the C library then uses
   * `clone`.
   */
  clone: [
    ...load(argument(0)),
    ...whenAnyBit(CLONE_NAMESPACES, refuse),
    ...whenAnyBit(CLONE_THREAD, allow),
    ...refuse,
  ],
  fcntl: [...load(argument(1)), ...oneOf(FCNTL)],
  ioctl: [...load(argument(1)), ...oneOf(IOCTL)],
  /** Refuses shared pages: they stay allocated when nothing maps them any more, and then nothing counts them. */
  mmap: [...load(argument(3)), ...whenAnyBit(MAP_SHARED, refuse), ...allow],
  prctl: [...load(argument(0)), ...oneOf(PRCTL)],
  /** Only for its own limits, which it can only lower. */
  prlimit64: [
    ...load(argument(0)),
    ...unlessEqual(0, refuse),
    ...load(upperHalfOf(argument(0))),
    ...unlessEqual(0, refuse),
    ...allow,
  ],
};

/** The filter for a machine as `process.arch` names it; `undefined` for an unsupported machine. */
export function seccompFilter(arch: string): Buffer | undefined {
  const [machine, allowed, judged] = [MACHINES[arch], ALLOWED[arch], JUDGED[arch]];
  if (machine === undefined || !allowed || !judged) return undefined;
  return assemble([
    ...load(MACHINE),
    ...unlessEqual(machine, verdict(refusal(ENOSYS))),
    ...load(CALL_NUMBER),
    ...Object.values(allowed).flatMap((number) => whenEqual(number, allow)),
    ...Object.entries(judged).flatMap(([name, number]) => whenEqual(number, JUDGEMENTS[name] ?? refuse)),
    ...verdict(refusal(ENOSYS)),
  ]);
}
