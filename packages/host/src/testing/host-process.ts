/** A real host in a child process, for tests that kill it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const TEST_KEY = 'gk_test_admin_0123456789abcdef0123456789abcdef';
const MAIN = fileURLToPath(new URL('../../bin/start.mjs', import.meta.url));
/** Ends a host that connects by other ways than egress. */
const WATCH = new URL('../../../../scripts/watch-sockets.mjs?host', import.meta.url).href;
const STARTED = /serving on (http:\/\/\S+)/;

export interface HostProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** Ends it at once, as a power cut would. */
  kill(): Promise<void>;
  /** SIGTERM, and waits for the end. Answers the exit code. */
  stop(): Promise<number | null>;
}

export async function startHostProcess(options: {
  dataDir: string;
  workflowsDir: string;
  port?: number;
  /** Words before `node`, for example `strace`. */
  wrapper?: readonly string[];
  env?: Readonly<Record<string, string>>;
  log?: string;
}): Promise<HostProcess> {
  const { dataDir, workflowsDir, port = 0, wrapper = [], env = {}, log = 'error' } = options;
  const words = [...wrapper, process.execPath, `--import=${WATCH}`, MAIN];
  const args = ['--data', dataDir, '--workflows', workflowsDir, '--port', String(port), '--log', log];
  const child = spawn(words[0]!, [...words.slice(1), ...args], {
    env: {
      ...process.env,
      GANTRY_ADMIN_KEY: TEST_KEY,
      NODE_NO_WARNINGS: '1',
      GANTRY_POISON_ENDS: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  const errors: string[] = [];
  child.stderr!.on('data', (chunk) => errors.push(String(chunk)));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout!).on('line', (line) => {
      const found = STARTED.exec(line);
      if (found) resolve(found[1]!);
    });
    // Not when it exits: what it said last may still be on its way
    child.once('close', () => reject(new Error(`the host did not start: ${errors.join('')}`)));
  });
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    const [code] = await ended;
    // Processes that it leaves behind may hold its pipes: they must not keep this one alive
    for (const pipe of [child.stdout, child.stderr]) if (pipe instanceof Socket) pipe.unref();
    return code;
  };
  return {
    url,
    child,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  };
}

export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'gantry-test-'));
  return { path: folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }) };
}
