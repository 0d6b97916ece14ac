import type { TestContext } from 'node:test';
import type { PackCode } from '../invocation.ts';
import type { Sandbox } from '../sandbox.ts';
import { packOf, startSandbox } from './sandbox.ts';

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');

/** A Python pack by the text of its files. */
export async function pythonPackOf(
  files: Record<string, string | Uint8Array>,
  entry = 'nodes.py',
): Promise<PackCode> {
  return { ...(await packOf(files)), language: 'python', entry };
}

/** A module with one node, `test.node`, whose body sees `ctx`. */
export const pythonPack = (body: string, before = ''): Promise<PackCode> =>
  pythonPackOf({
    'nodes.py': `${before}\ndef node(ctx):\n${indented(body || 'pass')}\nnodes = {'test.node': node}\n`,
  });

/** A sandbox that runs Python; without one, the test is skipped with the reason. */
export async function startPythonSandbox(t: TestContext): Promise<Sandbox | undefined> {
  const said: string[] = [];
  const sandbox = await startSandbox(t, { log: (_, message) => void said.push(message) });
  if ((await sandbox.pythonVersion()) !== undefined) return sandbox;
  t.skip(said.join('; '));
  return undefined;
}
