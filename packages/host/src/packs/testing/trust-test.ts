/** A host with a trust file. */
import { writeFile } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import { temporaryFolder } from '../../testing/host-process.ts';
import { type PackTest, packTest } from './pack-test.ts';

export async function trustFile(t: TestContext, content: unknown): Promise<string> {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const path = `${folder.path}/trust.json`;
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

export const trusting = async (t: TestContext, content: unknown): Promise<PackTest> =>
  packTest(t, { settings: { trustFile: await trustFile(t, content) } });
