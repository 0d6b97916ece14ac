/** What tests of the API share: short requests, and answers held against the public schemas. */
import assert from 'node:assert/strict';
import type { JsonObject, WorkflowDefinition } from '@gantry/protocol';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { publicValidator } from '../../../../protocol/src/testing/public-schemas.ts';
import { node, workflow } from '../../testing/definitions.ts';
import type { Lifetime } from '../../testing/one-per-file.ts';
import { type TestHost, testHost } from '../../testing/test-host.ts';

/** Ends at once. */
export const three = workflow('three', [
  node('a', 'core.noop'),
  node('b', 'core.noop'),
  node('c', 'core.noop'),
]);
/** Waits for an hour. */
export const slow = workflow('slow', [node('wait', 'core.delay', { delayMs: 3_600_000 })]);
/** Takes text that readers must not see. */
export const secretive = workflow('secretive', [node('a', 'core.noop')], {
  variables: [
    { name: 'token', type: 'string', sensitive: true },
    { name: 'count', type: 'number' },
  ],
});

export interface ApiTest extends TestHost {
  post(url: string, body?: unknown, headers?: Record<string, string>): Promise<LightMyRequestResponse>;
  get(url: string, headers?: Record<string, string>): Promise<LightMyRequestResponse>;
  /** In the place of what another test registered. */
  registered(definition: WorkflowDefinition): Promise<JsonObject>;
  /** Starts a run and answers its id. */
  start(workflowId: string, more?: JsonObject): Promise<string>;
  /** Polls until the run has ended. */
  ended(runId: string): Promise<JsonObject>;
}

export async function apiTest(t: Lifetime, options: Parameters<typeof testHost>[1] = {}): Promise<ApiTest> {
  const host = await testHost(t, { workflows: [three, slow, secretive], ...options });
  const request = async (inject: InjectOptions): Promise<LightMyRequestResponse> => {
    const response = await host.request(inject);
    if (response.statusCode >= 400) assertPublic('error-envelope.schema.json', envelopeOf(response.json()));
    return response;
  };
  const get: ApiTest['get'] = (url, headers = {}) => request({ method: 'GET', url, headers });
  const post: ApiTest['post'] = (url, body, headers = {}) =>
    request({
      method: 'POST',
      url,
      ...(body !== undefined && { payload: JSON.stringify(body) }),
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    });
  return {
    ...host,
    get,
    post,
    async registered(definition) {
      const response = await post('/v1/host/gantry/workflows?replace=true', definition);
      assert.equal(response.statusCode, 201, response.body);
      return response.json();
    },
    async start(workflowId, more = {}) {
      const response = await post('/v1/runs', { workflowId, ...more });
      assert.equal(response.statusCode, 201, response.body);
      return response.json().runId;
    },
    async ended(runId) {
      for (let last = -1; ; ) {
        const cursor = last < 0 ? '' : `&lastSequence=${last}`;
        const answer = (await get(`/v1/runs/${runId}/events/poll?timeout=60${cursor}`)).json();
        assert.ok(answer.isTerminal || answer.lastEventSeq > last, 'the run came to a standstill');
        if (answer.isTerminal) return (await get(`/v1/runs/${runId}`)).json();
        last = answer.lastEventSeq;
      }
    },
  };
}

/** The text of the protocol has more members for this code than its closed schema. */
function envelopeOf(body: JsonObject): JsonObject {
  if (body.error !== 'pack_runtime_requirement_unmet') return body;
  const { unmet: _unmet, manifest: _manifest, advice: _advice, ...envelope } = body;
  return envelope;
}

/** Holds an answer against a public schema, where the public data is at hand. */
export function assertPublic(schemaFile: string, doc: unknown): void {
  assert.deepEqual(publicValidator(schemaFile)?.(withoutUnlisted(doc)) ?? [], [], schemaFile);
}

const UNLISTED = ['supportedModels', 'selfHosted', 'promptPrefixCache', 'toolCalling', 'embeddings'];

/** Flags that the protocol demands of discovery and its published schema does not list. */
function withoutUnlisted(doc: unknown): unknown {
  if (typeof doc !== 'object' || doc === null || !('secrets' in doc)) return doc;
  const { resolveInPack: _, ...secrets } = Object(doc.secrets);
  const models = Object.entries(Object('aiProviders' in doc ? doc.aiProviders : {}));
  const aiProviders = Object.fromEntries(models.filter(([name]) => !UNLISTED.includes(name)));
  return { ...doc, secrets, aiProviders };
}

export function assertError(
  response: LightMyRequestResponse,
  status: number,
  code: string,
  details: JsonObject = {},
): void {
  const body = response.json();
  assert.deepEqual([response.statusCode, body.error], [status, code], response.body);
  for (const [name, value] of Object.entries(details)) assert.deepEqual(body.details?.[name], value, name);
}
