/** Child processes of the benchmark: started, waited for, measured and ended here, and nowhere else. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;

const alive = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** What the caller set for its own host must not reach the measured one. */
const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('GANTRY_')),
);

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...inherited, NODE_NO_WARNINGS: '1', ...env },
  });
  alive.add(child);
  child.once('exit', () => alive.delete(child));
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8');
    child[stream].on('data', (text: string) => {
      output[stream] += text;
    });
  }
  return { child, output };
}

/** Runs a script to its end and parses what it printed. */
export async function runJson<T>(script: string, request: object, timeoutMs: number): Promise<T> {
  const { child, output } = start([script, JSON.stringify(request)]);
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  const [code, signal] = await once(child, 'close');
  clearTimeout(timer);
  if (code !== 0) throw new Error(`${script} ended with ${code ?? signal}\n${output.stderr}`);
  return JSON.parse(output.stdout) as T;
}

export interface Server {
  readonly port: number;
  readonly pid: number;
  /** From spawn to ready. */
  readonly readyMs: number;
  /** SIGTERM, then SIGKILL. Answers what it printed on stdout. */
  stop(): Promise<string>;
}

export interface ServerOptions {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Answers 200 once the server serves. */
  readonly readyPath: string;
}

async function isReady(port: number, path: string): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => null);
  await answer?.arrayBuffer();
  return answer?.status === 200;
}

const portIn = (text: string): number => Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1] ?? 0);

export async function startServer({ args, env, readyPath }: ServerOptions): Promise<Server> {
  const startedAt = performance.now();
  const { child, output } = start(args, env);
  const stop = async (): Promise<string> => {
    if (child.exitCode !== null || child.signalCode !== null) return output.stdout;
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    child.kill('SIGTERM');
    await once(child, 'close');
    clearTimeout(timer);
    return output.stdout;
  };
  for (;;) {
    const port = portIn(output.stdout + output.stderr);
    if (port > 0 && (await isReady(port, readyPath)))
      return { port, pid: child.pid ?? 0, readyMs: performance.now() - startedAt, stop };
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    if (hasEnded || performance.now() - startedAt > START_TIMEOUT_MS) {
      await stop();
      throw new Error(`no server from ${args.join(' ')}\n${output.stdout}${output.stderr}`);
    }
    await sleep(2);
  }
}

/** Resident memory in MiB; null where there is no /proc. */
export function residentMiB(pid: number): number | null {
  const kib = procField(pid, 'status', 'VmRSS');
  return kib === null ? null : kib / 1024;
}

function procField(pid: number, file: string, name: string): number | null {
  try {
    const text = readFileSync(`/proc/${pid}/${file}`, 'utf8');
    return Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(text)?.[1] ?? Number.NaN);
  } catch {
    return null;
  }
}

export interface Activity {
  readonly cpuMs: number;
  /** Calls that read or write, on files and sockets. */
  readonly ioCalls: number;
}

/** What the process has done since it started; null where there is no /proc. */
export function activity(pid: number): Activity | null {
  const reads = procField(pid, 'io', 'syscr');
  const writes = procField(pid, 'io', 'syscw');
  if (reads === null || writes === null) return null;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { cpuMs: ticks * 10, ioCalls: reads + writes };
}

/** CPU time in milliseconds: of the thread that serves requests, of the one that writes, of all others together. */
export interface ThreadCpu {
  readonly main: number;
  readonly writer: number;
  readonly others: number;
}

/** What the threads of a process have used since it started; null where there is no /proc. */
export function threadCpu(pid: number): ThreadCpu | null {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map((id) => threadOf(pid, Number(id)));
    const main = threads.find(({ id }) => id === pid)?.ms ?? 0;
    // The store starts its writer before any other thread
    const workers = threads.filter(({ name }) => name === 'WorkerThread').sort((a, b) => a.id - b.id);
    const writer = workers[0]?.ms ?? 0;
    return { main, writer, others: threads.reduce((sum, { ms }) => sum + ms, 0) - main - writer };
  } catch {
    return null;
  }
}

function threadOf(pid: number, id: number) {
  const read = (file: string): string => readFileSync(`/proc/${pid}/task/${id}/${file}`, 'utf8');
  return { id, name: read('comm').trim(), ms: Number(read('schedstat').split(' ', 1)[0]) / 1e6 };
}

/** Of all threads. */
export function cpuMs(pid: number): number | null {
  const cpu = threadCpu(pid);
  return cpu && cpu.main + cpu.writer + cpu.others;
}
