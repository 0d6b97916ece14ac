/** What surfaces are opened with, in a folder that goes with the test. */
import type { TestContext } from 'node:test';
import { createEgressByPurpose } from '@gantry/egress';
import { createCursors } from '../calls/cursor.ts';
import type { BackendSettings, OpenDeps } from '../open-port.ts';
import { createPostgresPool } from '../postgres-pool.ts';
import { openEmbeddedDatabase, openRetrievalDatabase } from '../sqlite/database.ts';
import { freshFolder } from './data-dir.ts';

export async function openDeps(t: TestContext, folder = freshFolder()): Promise<OpenDeps> {
  const dataDir = folder.path;
  const embedded = await openEmbeddedDatabase({ dataDir });
  const retrieval = openRetrievalDatabase({ dataDir });
  const pool = createPostgresPool();
  t.after(async () => {
    await Promise.all([embedded.close(), retrieval.close(), pool.close()]);
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
    retrieval,
    pool,
    cursors: createCursors(cursorKey),
  };
}

export const withBackends = (deps: OpenDeps, backends: BackendSettings): OpenDeps => ({ ...deps, backends });
