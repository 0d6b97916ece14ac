import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packTest } from '../packs/testing/pack-test.ts';
import { node, workflow } from '../testing/definitions.ts';

test('pack code reads prompts by id and by version', async (t) => {
  const api = await packTest(t);
  const prompt = { templateId: 'greet', version: '1.0.0', kind: 'system', text: 'Hello {{name}}' };
  assert.equal((await api.post('/v1/prompts', prompt)).statusCode, 201);
  const body = `
    const told = (id) => ctx.promptLibrary.get(id).then((found) => found, ({ code }) => code);
    return { latest: await told('greet'), pinned: await told('greet@1.0.0'), other: await told('prompt:greet@2.0.0'),
      missing: await told('nobody') };`;
  await api.install({
    nodes: { 'vendor.acme.ask': { body, role: 'side-effect' } },
    manifest: { peerDependencies: { 'host.promptLibrary': 'supported' } },
  });
  await api.registered(workflow('ask', [node('a', 'vendor.acme.ask')]));
  const found = { promptId: 'greet', systemPrompt: 'Hello {{name}}', version: '1.0.0' };
  assert.deepEqual((await api.ended(await api.start('ask'))).outputs, {
    latest: found,
    pinned: found,
    other: 'prompt_version_pinned',
    missing: 'prompt_not_found',
  });
});
