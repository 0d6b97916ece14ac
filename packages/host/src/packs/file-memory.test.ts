/** How much of the files that packs read at once is in the memory of the host. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentRoom } from '../../../surfaces/src/testing/content-room.ts';
import { node, workflow } from '../testing/definitions.ts';
import { packTest } from './testing/pack-test.ts';

const MIB = 1024 * 1024;
const SIZE = 16 * MIB;
const READS = 8;
const BODIES = {
  write: `await ctx.fs.write({ path: 'large', bytes: new Uint8Array(${SIZE}) }); return {};`,
  read: `
    const lengths = Array.from({ length: ${READS} }, async () => (await ctx.fs.read({ path: 'large' })).bytes.length);
    return { read: (await Promise.all(lengths)).reduce((sum, length) => sum + length) };`,
};

test('of all that one tenant reads at once, the host holds 64 MiB', async (t) => {
  const api = await packTest(t, { settings: { packMemoryMb: 512 } });
  const nodes = Object.entries(BODIES).map(([id, body]) => [
    `vendor.acme.${id}`,
    { body, role: 'side-effect' },
  ]);
  await api.install({ nodes: Object.fromEntries(nodes) });
  for (const id of Object.keys(BODIES)) await api.registered(workflow(id, [node('a', `vendor.acme.${id}`)]));
  await api.ended(await api.start('write'));
  let most = 0;
  const original = contentRoom.for.bind(contentRoom);
  t.mock.method(contentRoom, 'for', (asking: Parameters<typeof original>[0]) => {
    const makeRoom = original(asking);
    return async (bytes: number) => {
      await makeRoom(bytes);
      most = Math.max(most, contentRoom.held);
    };
  });
  const runs = await Promise.all([api.start('read'), api.start('read')]);
  for (const runId of runs) assert.deepEqual((await api.ended(runId)).outputs, { read: READS * SIZE });
  assert.equal(most, 64 * MIB);
  assert.equal(contentRoom.held, 0);
});
