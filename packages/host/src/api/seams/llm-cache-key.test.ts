import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../testing/api-test.ts';
import { seamTest } from './testing/seam-test.ts';

const request = { provider: 'anthropic', model: 'claude-x', messages: [{ role: 'user', content: 'hello' }] };
/** The golden vector of the recipe. */
const KEY = 'c92498949e9cc0e38bb2887e88e55b6936932e219b8344f0a7059b1de960073d';

test('the key of a request is that of what it asks for', async (t) => {
  const api = await seamTest(t);
  const keyOf = async (body: object) => (await api.drive('test/llm-cache-key', body)).cacheKey;
  assert.equal(await keyOf(request), KEY);
  assert.equal(await keyOf({ ...request, stream: true, tenantId: 't', 'x-request-id': 'q' }), KEY);
  assert.notEqual(await keyOf({ ...request, seed: 1 }), KEY);
  const { messages: _messages, ...rest } = request;
  const refused = await api.post('/v1/host/sample/test/llm-cache-key', rest);
  assertError(refused, 400, 'invalid_argument', { field: 'messages' });
});
