import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openQueue } from '../../open-backends.ts';
import { createPostgresPool } from '../../postgres/connection.ts';
import { openEmbeddedDatabase } from '../../sqlite/database.ts';
import { freshFolder } from '../../testing/data-dir.ts';

test('the setting chooses the backend; another is refused by name, without its password', async (t) => {
  const folder = freshFolder();
  const embedded = await openEmbeddedDatabase({ dataDir: folder.path });
  const pool = createPostgresPool();
  t.after(async () => {
    await Promise.all([embedded.close(), pool.close()]);
    folder.remove();
  });
  const deps = { embedded, pool, now: Date.now, report: () => {} };
  const opened = await openQueue(undefined, deps);
  assert.equal(opened.kind, 'embedded');
  await opened.health();
  await assert.rejects(openQueue('kafka://me:open-sesame@broker', deps), (error) => {
    assert.ok(error instanceof Error);
    assert.match(error.message, /GANTRY_QUEUE asks for "kafka:\/\/".*use postgres:\/\//);
    assert.doesNotMatch(error.message, /open-sesame/);
    return true;
  });
  const { port, health } = await openQueue('postgres://127.0.0.1:1/x', deps);
  await assert.rejects(health(), { message: /127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)/ });
  await assert.rejects(port.health(), { code: 'queue_backend_unavailable' });
  await port.close();
});
