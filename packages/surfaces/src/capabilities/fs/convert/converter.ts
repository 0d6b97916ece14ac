/**
 * Converts images, PDF files and archives, each task in its own process. The process cannot write files, open
 * connections or start processes, has an empty environment, and is killed when it exceeds time, memory or CPU.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { LimiterError, limiter } from '@gantry/limiter';
import { OpenwopError } from '@gantry/protocol';
import type { ReadCall } from '../../../calls/surface-call.ts';
import { type Message, receive, send } from './frame.ts';
import { BYTES_MAX, REFUSALS, type Refusal, type Task } from './task.ts';

export interface Converted {
  readonly value: unknown;
  readonly parts: readonly Uint8Array[];
}

type Caller = Pick<ReadCall, 'tenant' | 'signal'>;

export interface Converter {
  readonly lacks: readonly Task['kind'][];
  /** Rejects with one of `REFUSALS` if the file is the cause. */
  run(task: Task, parts: readonly Uint8Array[], call: Caller): Promise<Converted>;
}

export interface ConverterLimits {
  readonly wallClockMs: number;
  readonly memoryBytes: number;
}

const LIMITS: ConverterLimits = { wallClockMs: 20_000, memoryBytes: 640 * 1_048_576 };
const AT_ONCE_MAX = 2;
const WAITING_BY_TENANT_MAX = 64;
const WATCH_MS = 100;

function isThere(name: string): boolean {
  try {
    return findPackageJSON(name, import.meta.url) !== undefined;
  } catch {
    return false;
  }
}

/** `sharp` is one package, plus one with native code for each platform. */
const hasImages = (): boolean =>
  ['', 'musl'].some((libc) => isThere(`@img/sharp-${process.platform}${libc}-${process.arch}`));

/** Checks for the libraries without loading them. `limits` is for tests. */
export function openConverter(limits: ConverterLimits = LIMITS): Converter {
  const turns = limiter({ max: AT_ONCE_MAX, waitingPerTenantMax: WAITING_BY_TENANT_MAX });
  const lacks = { image: !hasImages(), pdf: !isThere('unpdf') || !isThere('pdf-lib') };
  return {
    lacks: (['image', 'pdf'] as const).filter((kind) => lacks[kind]),
    run: (task, parts, { tenant, signal }) =>
      turns
        .run(tenant, () => runProcess(task, parts, signal, limits), { signal })
        .catch((error) => {
          throw error instanceof LimiterError ? new OpenwopError('runner_unavailable') : error;
        }),
  };
}

type Child = ChildProcessByStdio<Writable, Readable, null>;

const NODE_FLAGS = [
  '--permission',
  '--allow-addons',
  '--allow-fs-read=*',
  '--max-old-space-size=256',
  '--no-warnings',
];

function start({ wallClockMs }: ConverterLimits): Child {
  const command = [process.execPath, ...NODE_FLAGS, join(import.meta.dirname, 'process.ts')];
  const seconds = Math.ceil(wallClockMs / 1_000) + 1;
  // The shell sets limits that even native code cannot undo: no file grows, and CPU time ends
  const [program, ...args] =
    process.platform === 'win32'
      ? command
      : ['/bin/sh', '-c', `ulimit -f 0; ulimit -c 0; ulimit -t ${seconds}; exec "$0" "$@"`, ...command];
  return spawn(program!, args, { env: {}, stdio: ['pipe', 'pipe', 'ignore'] });
}

async function runProcess(
  task: Task,
  parts: readonly Uint8Array[],
  signal: AbortSignal,
  limits: ConverterLimits,
): Promise<Converted> {
  signal.throwIfAborted();
  const { input: maxBytes, output } = BYTES_MAX[task.kind];
  if (parts.reduce((sum, { byteLength }) => sum + byteLength, 0) > maxBytes)
    throw new OpenwopError('file_too_large', { details: { maxBytes } });
  const child = start(limits);
  let why = 'ended without an answer';
  const end = (reason: string): void => {
    why = reason;
    child.kill('SIGKILL');
  };
  const timer = setTimeout(
    () => end(`took more than ${limits.wallClockMs / 1_000} seconds`),
    limits.wallClockMs,
  );
  const watch = setInterval(() => {
    void residentBytes(child.pid).then(
      (bytes) => bytes > limits.memoryBytes && end('exceeded the memory limit'),
    );
  }, WATCH_MS);
  const aborted = (): void => end('was cancelled');
  signal.addEventListener('abort', aborted, { once: true });
  try {
    child.stdin.on('error', () => {});
    send(child.stdin, { head: task, parts });
    return readAnswer(await answerOf(child, output));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof OpenwopError) throw error;
    throw failed(`Working on the file ${why}.`, error);
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    signal.removeEventListener('abort', aborted);
    child.kill('SIGKILL');
  }
}

async function answerOf(child: Child, bytesMax: number): Promise<Message> {
  const failedToStart = new Promise<never>((_, reject) => child.once('error', reject));
  return Promise.race([receive(child.stdout, bytesMax), failedToStart]);
}

function readAnswer({ head, parts }: Message): Converted {
  const answer = head as { ok: boolean; value?: unknown; message?: unknown; code?: unknown };
  if (answer.ok) return { value: answer.value, parts };
  throw failed(
    String(answer.message),
    undefined,
    REFUSALS.find((code) => code === answer.code),
  );
}

/** Not retriable: the same file would fail again. */
const failed = (message: string, cause: unknown, code: Refusal = 'validation_error'): OpenwopError =>
  new OpenwopError(code, { message: `${message} Use another file, or ask for less.`, cause });

/** Only Linux reports it; elsewhere only the heap and the number of pixels are limited. */
async function residentBytes(pid: number | undefined): Promise<number> {
  if (process.platform !== 'linux' || pid === undefined) return 0;
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1_024;
}
