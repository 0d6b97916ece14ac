/** A real registry in a child process, for tests that end it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ADMIN_KEY } from './test-registry.ts';

const MAIN = fileURLToPath(new URL('../../bin/registry.mjs', import.meta.url));
const STARTED = /serving on (http:\/\/\S+)/;

export interface RegistryProcess {
  readonly url: string;
  readonly child: ChildProcess;
  kill(): Promise<void>;
  /** SIGTERM, and waits for the end. Answers the exit code. */
  stop(): Promise<number | null>;
}

export async function startRegistryProcess(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RegistryProcess> {
  const child = spawn(process.execPath, [MAIN, '--data', dataDir, '--port', '0', '--log', 'error'], {
    env: { ...process.env, GANTRY_ADMIN_KEY: ADMIN_KEY, NODE_NO_WARNINGS: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  const errors: string[] = [];
  child.stderr.on('data', (chunk) => errors.push(String(chunk)));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const found = STARTED.exec(line);
      if (found?.[1] !== undefined) resolve(found[1]);
    });
    // Not when it exits: what it said last may still be on its way
    child.once('close', () => reject(new Error(`the registry did not start: ${errors.join('')}`)));
    ended.catch(reject);
  });
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> => {
    child.kill(signal);
    const [code] = await ended;
    return code;
  };
  return { url, child, kill: async () => void (await end('SIGKILL')), stop: () => end('SIGTERM') };
}

export interface Upload {
  write(bytes: Uint8Array): void;
  /** Sends what is left, and answers the status; 0 when the connection broke. */
  end(bytes?: Uint8Array): Promise<number>;
}

/** A publish whose body comes in pieces. */
export function upload(url: string, path: string): Upload {
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/gzip' };
  // Without an agent: a connection that is kept for later would hold up a registry that drains.
  const sending = request(`${url}${path}`, { method: 'PUT', headers, agent: false });
  const status = new Promise<number>((resolve) => {
    sending.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sending.on('error', () => resolve(0));
  });
  return {
    write: (bytes) => void sending.write(bytes),
    end(bytes) {
      sending.end(bytes);
      return status;
    },
  };
}
