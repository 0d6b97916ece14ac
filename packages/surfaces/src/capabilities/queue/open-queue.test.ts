import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPort } from '../../open-port.ts';
import { openDeps, withBackends } from '../../testing/open-deps.ts';
import { queuePort } from './surface.ts';

test('the setting chooses the backend; another is refused by name, without its password', async (t) => {
  const deps = await openDeps(t);
  const openQueue = (queue?: string) => openPort(queuePort, withBackends(deps, { queue }));
  const opened = await openQueue();
  assert.equal(opened.kind, 'embedded');
  await opened.health();
  await assert.rejects(openQueue('kafka://me:open-sesame@broker'), (error) => {
    assert.ok(error instanceof Error);
    assert.match(error.message, /GANTRY_QUEUE asks for "kafka:\/\/".*use postgres:\/\//);
    assert.doesNotMatch(error.message, /open-sesame/);
    return true;
  });
  const { port, health } = await openQueue('postgres://127.0.0.1:1/x');
  await assert.rejects(health(), { message: /127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)/ });
  await assert.rejects(port.health(), { code: 'queue_backend_unavailable' });
  await port.close();
});
