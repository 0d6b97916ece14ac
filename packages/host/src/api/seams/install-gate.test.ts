import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TEST_KEY } from '../../testing/host-process.ts';
import { seamTest } from './testing/seam-test.ts';

const manifest = (requires: string[]) => ({
  name: 'vendor.example.http',
  version: '1.0.0',
  engines: { openwop: '>=1.1 <2.0.0' },
  nodes: [{ typeId: 'vendor.example.get', version: '1.0.0', category: 'integration', role: 'side-effect' }],
  runtime: { language: 'javascript', entry: 'index.mjs', requires },
});

test('the gate installs what is granted, refuses the rest, and projects where nothing is gated', async (t) => {
  const api = await seamTest(t);
  const needs = manifest(['net.dns', 'net.outbound']);
  const granted = { manifest: needs, grantSet: ['net.dns', 'net.outbound'] };
  assert.deepEqual(await api.drive('packs/install-gate', granted), { outcome: 'installed' });
  const open = await api.drive('packs/install-gate', { manifest: needs, gating: false });
  assert.deepEqual(open.requiresProjected, ['net.dns', 'net.outbound']);
  const url = '/v1/host/sample/packs/install-gate';
  const payload = JSON.stringify({ manifest: needs, grantSet: ['net.dns'] });
  const headers = { 'content-type': 'application/json' };
  const refused = await api.host.app.inject({
    method: 'POST',
    url,
    payload,
    headers: { ...headers, authorization: `Bearer ${TEST_KEY}` },
  });
  assert.equal(refused.statusCode, 400);
  const { error, unmet, manifest: named } = refused.json();
  assert.deepEqual(
    [error, unmet, named],
    ['pack_runtime_requirement_unmet', ['net.outbound'], 'vendor.example.http@1.0.0'],
  );
});
