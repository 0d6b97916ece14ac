/** A host with packs, spoken to through the front door. */
import assert from 'node:assert/strict';
import type { JsonObject, WorkflowDefinition } from '@gantry/protocol';
import type { LightMyRequestResponse } from 'fastify';
import { type ApiTest, apiTest } from '../../api/testing/api-test.ts';
import type { Lifetime } from '../../testing/one-per-file.ts';
import { grantingSurfaces, packArchive, type TestPack } from './pack-archive.ts';

export const PACKS_URL = '/v1/host/gantry/packs';

export interface PackTest extends ApiTest {
  upload(bytes: Buffer, query?: string): Promise<LightMyRequestResponse>;
  /** Installs, granting the surfaces that its code calls, and is sure that it worked. */
  install(pack: TestPack, query?: string): Promise<void>;
  register(definition: WorkflowDefinition): Promise<LightMyRequestResponse>;
  /** Follows the run until its node `a`, or the one named, asks. */
  asks(runId: string, nodeId?: string): Promise<JsonObject>;
}

export async function packTest(t: Lifetime, options: Parameters<typeof apiTest>[1] = {}): Promise<PackTest> {
  const api = await apiTest(t, { workflows: [], ...options });
  const upload: PackTest['upload'] = (bytes, query = '') =>
    api.request({
      method: 'POST',
      url: `${PACKS_URL}${query}`,
      payload: bytes,
      headers: { 'content-type': 'application/gzip' },
    });
  const register: PackTest['register'] = (definition) =>
    api.post('/v1/host/gantry/workflows?replace=true', definition);
  return {
    ...api,
    upload,
    register,
    async install(pack, query) {
      const { bytes } = await packArchive(pack);
      const response = await upload(bytes, await grantingSurfaces(bytes, query));
      assert.equal(response.statusCode, 201, response.body);
    },
    async asks(runId, nodeId = 'a') {
      for (let last = -1; ; ) {
        const found = await api.get(`/v1/runs/${runId}/interrupts/${nodeId}`);
        if (found.statusCode === 200) return found.json();
        const cursor = last < 0 ? '' : `&lastSequence=${last}`;
        const polled = (await api.get(`/v1/runs/${runId}/events/poll?timeout=60${cursor}`)).json();
        assert.ok(polled.lastEventSeq > last && !polled.isTerminal, JSON.stringify(polled));
        last = polled.lastEventSeq;
      }
    },
  };
}

/** A host that tests share: a pack without a version is installed as the next one. */
export async function sharedPackTest(
  t: Lifetime,
  options: Parameters<typeof apiTest>[1] = {},
): Promise<PackTest> {
  const api = await packTest(t, options);
  let installs = 0;
  return {
    ...api,
    install: (pack, query) => api.install({ version: `1.0.${installs++}`, ...pack }, query),
  };
}
