/** For tests: pack folders in a temporary root, and command lines that need no host. */
import { execFile } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { TEST_KEY } from '../../../../../host/src/testing/host-process.ts';
import { runCli } from '../../../cli.ts';
import type { Said } from '../../../testing/real-host.ts';
import { memoryIo } from '../../../testing/test-host.ts';

/** Where the project keeps its sample packs. */
export const SAMPLES = fileURLToPath(new URL('../../../../../../packs', import.meta.url));

export async function temporaryFolder(t: TestContext): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), 'gantry-pack-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  return root;
}

/** One `gantry pack` command line in a folder. */
export async function packIn(cwd: string, ...args: string[]): Promise<Said> {
  const { io, out, err } = memoryIo();
  const code = await runCli(['pack', ...args], { ...io, cwd });
  return { code, out: out.text, err: err.text };
}

/** A fresh scaffold; answers its folder. */
export async function scaffolded(
  t: TestContext,
  name = 'vendor.acme.greeter',
  ...flags: string[]
): Promise<string> {
  const root = await temporaryFolder(t);
  await packIn(root, 'new', name, '--out', 'pack', ...flags);
  return path.join(root, 'pack');
}

/** Changes one file of a pack as an author would. */
export async function edit(file: string, change: (text: string) => string): Promise<void> {
  await writeFile(file, change(await readFile(file, 'utf8')));
}

/** Puts the sample packs of the project into a folder, with their WebAssembly compiled. */
export async function buildSamples(folder: string): Promise<void> {
  await cp(SAMPLES, folder, { recursive: true });
  await promisify(execFile)(process.execPath, [path.join(SAMPLES, 'build.mjs'), folder]);
}

export interface Watching {
  readonly finished: Promise<Said>;
  /** Resolves when stdout has said what matches so often since the start; rejects when it ends without. */
  says(pattern: RegExp, times?: number): Promise<void>;
  /** As Ctrl-C does. */
  interrupt(): void;
}

/** A `gantry pack` command line that goes on until it is interrupted. */
export function packUntilInterrupted(url: string, ...args: string[]): Watching {
  const { io, out, err } = memoryIo();
  const interrupted = new AbortController();
  const heard = new EventEmitter();
  const stdout = {
    ...out,
    write(text: string) {
      this.text += text;
      heard.emit('text');
    },
  };
  const env = { GANTRY_URL: url, GANTRY_API_KEY: TEST_KEY };
  const world = { ...io, stdout, env, signal: interrupted.signal };
  const finished = runCli(['pack', ...args], world).then((code) => ({
    code,
    out: stdout.text,
    err: err.text,
  }));
  const ended = finished.then(({ code, err }) => Promise.reject(new Error(`ended with ${code}: ${err}`)));
  ended.catch(() => undefined);
  return {
    finished,
    interrupt: () => interrupted.abort(new Error('interrupted')),
    async says(pattern, times = 1) {
      const isSaid = () => [...stdout.text.matchAll(new RegExp(pattern, 'g'))].length >= times;
      while (!isSaid()) await Promise.race([once(heard, 'text'), ended]);
    },
  };
}
