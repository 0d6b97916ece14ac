import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEgress, EgressError } from '@gantry/egress';
import { REFUSED } from '../../../egress/src/testing/corpus.ts';
import { watchSockets } from '../../../egress/src/testing/sockets.ts';
import { guardedFetch } from './network.ts';

test('fetch of pack code connects to no URL of the corpus', async (t) => {
  const sockets = watchSockets(t);
  const egress = createEgress({
    policy: { purpose: 'raw-fetch', allow: [] },
    lookup: async () => ['10.0.0.7'],
  });
  for (const url of [...Object.values(REFUSED).flat(), 'https://inside.example/'])
    await assert.rejects(guardedFetch(egress, [url], { tenant: 'acme' }), EgressError, url);
  assert.deepEqual([...sockets.all], []);
});
