import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { ChildCommand } from './sqlite-child.ts';

const SCRIPT = join(import.meta.dirname, 'sqlite-child.ts');

export interface Child {
  readonly process: ChildProcessByStdio<Writable, Readable, null>;
  readonly lines: AsyncIterator<string>;
  /** The next line it says; empty when it has ended. */
  next(): Promise<string>;
  /** Ends its input and waits for it. */
  end(): Promise<void>;
  kill(): Promise<void>;
}

export interface ChildOptions {
  /** Put in front of its command line. */
  readonly prefix?: readonly string[];
  /** Soft limit on the size of any file it writes. */
  readonly fileKilobytesMax?: number;
}

/** A process of the tests' own, on one data folder. */
export function startChild(command: ChildCommand, dataDir: string, options: ChildOptions = {}): Child {
  const { fileKilobytesMax, prefix = [] } = options;
  const limit = fileKilobytesMax === undefined ? '' : `ulimit -S -f ${fileKilobytesMax}; `;
  const line = [...prefix, process.execPath, SCRIPT, command, dataDir];
  const child = spawn('bash', ['-c', `${limit}exec "$@"`, 'bash', ...line], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    process: child,
    lines,
    next: async () => (await lines.next()).value ?? '',
    async end() {
      child.stdin.end();
      await exited;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
