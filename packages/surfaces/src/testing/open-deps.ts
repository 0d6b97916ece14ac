/** What surfaces are opened with, in a folder that goes with the test. */
import type { TestContext } from 'node:test';
import { createEgressByPurpose } from '@gantry/egress';
import { createCursors } from '../calls/cursor.ts';
import type { BackendSettings, OpenDeps } from '../open-port.ts';
import { createPostgresPool } from '../postgres-pool.ts';
import { openEmbeddedDatabase } from '../sqlite/database.ts';
import { freshFolder } from './data-dir.ts';

export async function openDeps(t: TestContext, folder = freshFolder()): Promise<OpenDeps> {
  const dataDir = folder.path;
  const embedded = await openEmbeddedDatabase({ dataDir });
  const pool = createPostgresPool();
  t.after(async () => {
    await Promise.all([embedded.close(), pool.close()]);
    folder.remove();
  });
  const cursorKey = new Uint8Array(32);
  return {
    dataDir,
    cursorKey,
    invocationRetentionMs: 60_000,
    backends: {},
    egress: createEgressByPurpose(),
    now: Date.now,
    report: () => {},
    buckets: ['artifacts'],
    blobLinks: { key: cursorKey, publicUrl: () => 'https://host.test' },
    embedded,
    pool,
    cursors: createCursors(cursorKey),
  };
}

export const withBackends = (deps: OpenDeps, backends: BackendSettings): OpenDeps => ({ ...deps, backends });
