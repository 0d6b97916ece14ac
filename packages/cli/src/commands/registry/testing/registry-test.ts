/** For tests: `gantry registry` command lines in a folder of their own. */
import type { TestContext } from 'node:test';
import { runCli } from '../../../cli.ts';
import type { Said } from '../../../testing/real-host.ts';
import { memoryIo, memoryOutput } from '../../../testing/test-host.ts';
import { temporaryFolder } from '../../pack/testing/pack-folder.ts';

export interface Workspace {
  readonly root: string;
  gantry(...args: string[]): Promise<Said>;
}

export async function workspaceFor(
  t: TestContext,
  env: Readonly<Record<string, string>>,
): Promise<Workspace> {
  const root = await temporaryFolder(t);
  return {
    root,
    async gantry(...args) {
      const { io, err } = memoryIo();
      const stdout = memoryOutput(false);
      const world = { ...io, stdout, cwd: root, now: Date.now, env: { NO_COLOR: '1', ...env } };
      const code = await runCli(args, world);
      return { code, out: stdout.text, err: err.text };
    },
  };
}
