/** A process that never opened a secret still redacts it, if pack code was given it once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PackTest, packTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { temporaryFolder } from '../testing/host-process.ts';

const URL = '/v1/host/gantry/credentials';
const KEPT = 'sk_live_kept_CANARY_51';
const OLD = 'sk_live_old_CANARY_52';
const REMOVED = 'sk_live_removed_CANARY_53';

test('what pack code has seen is redacted after a restart, a rotation and a removal', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const settings = { dataDir: folder.path };
  const ending: (() => unknown)[] = [];
  const first = await packTest({ after: (end) => void ending.push(end) }, { settings });
  await given(first);
  for (const end of ending.toReversed()) await end();

  const second = await packTest(t, { settings });
  const run = await second.ended(await second.start('leak'));
  assert.deepEqual(
    run.outputs,
    { all: '[REDACTED:kept] [REDACTED:rotated] [REDACTED:removed]' },
    JSON.stringify(run),
  );
});

async function given(api: PackTest): Promise<void> {
  for (const [ref, value] of Object.entries({ kept: KEPT, rotated: OLD, removed: REMOVED }))
    await api.post(URL, { ref, value });
  const refs = ['kept', 'rotated', 'removed'];
  await api.install({
    nodes: {
      'vendor.acme.read': {
        role: 'side-effect',
        body: 'return { read: Object.keys(ctx.credentials).length };',
        more: { requiredCredentials: refs.map((key) => ({ key })) },
      },
      'vendor.acme.leak': {
        role: 'side-effect',
        body: `return { all: [${[KEPT, OLD, REMOVED].map((value) => JSON.stringify([...value].reverse().join('')))}]
          .map((text) => [...text].reverse().join('')).join(' ') };`,
      },
    },
  });
  for (const name of ['read', 'leak']) await api.register(workflow(name, [node('a', `vendor.acme.${name}`)]));
  assert.equal((await api.ended(await api.start('read'))).status, 'completed');
  const rotated = await api.post(`${URL}/rotated:rotate`, { value: 'another-value', overlapSeconds: 0 });
  assert.equal(rotated.json().versions.length, 1, rotated.body);
  assert.equal((await api.request({ method: 'DELETE', url: `${URL}/removed` })).statusCode, 200);
}
