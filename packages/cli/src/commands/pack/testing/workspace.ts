/** For tests: a folder with workflows, where `gantry pack` command lines run against a host and registries. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { TEST_KEY } from '../../../../../host/src/testing/host-process.ts';
import { runCli } from '../../../cli.ts';
import type { Said } from '../../../testing/real-host.ts';
import { memoryIo, memoryOutput } from '../../../testing/test-host.ts';
import { temporaryFolder } from './pack-folder.ts';

export interface Workspace {
  readonly root: string;
  /** A definition that asks for packs, by name and range. */
  workflow(id: string, packs: Readonly<Record<string, object>>): Promise<void>;
  /** One command line without a terminal. */
  pack(...args: string[]): Promise<Said>;
  /** The same on a terminal whose person types these lines. */
  typing(lines: readonly string[], ...args: string[]): Promise<Said>;
  lockText(): Promise<string>;
  /** Name and version of what the lockfile lists. */
  locked(): Promise<Record<string, string>>;
}

export type Env = Readonly<Record<string, string>>;

export async function workspace(t: TestContext, env: Env = {}): Promise<Workspace> {
  const root = await temporaryFolder(t);
  await mkdir(path.join(root, 'workflows'));
  const run = async (args: readonly string[], lines?: readonly string[]): Promise<Said> => {
    const { io, err } = memoryIo();
    const stdout = memoryOutput(lines !== undefined);
    const rest = [...(lines ?? [])];
    const stdin = { isTTY: lines !== undefined, ask: async () => rest.shift(), read: async () => '' };
    const world = {
      ...io,
      stdin,
      stdout,
      cwd: root,
      env: { GANTRY_API_KEY: TEST_KEY, NO_COLOR: '1', ...env },
    };
    const code = await runCli(['pack', ...args], world);
    return { code, out: stdout.text, err: err.text };
  };
  const lockText = () => readFile(path.join(root, 'pack-lock.json'), 'utf8');
  return {
    root,
    workflow: (id, packs) =>
      writeFile(path.join(root, 'workflows', `${id}.json`), JSON.stringify({ id, packs })),
    pack: (...args) => run(args),
    typing: (lines, ...args) => run(args, lines),
    lockText,
    async locked() {
      const { packs }: { packs: { name: string; version: string }[] } = JSON.parse(await lockText());
      return Object.fromEntries(packs.map(({ name, version }) => [name, version]));
    },
  };
}
