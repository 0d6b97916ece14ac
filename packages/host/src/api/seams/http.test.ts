/** What the public suite asserts of requests, tools and credentials on their way out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { onePerFile } from '../../testing/one-per-file.ts';
import { seamTest } from './testing/seam-test.ts';

const METADATA = 'http://169.254.169.254/latest/meta-data/';
const CANARY = 'sk-canary-do-not-leak-xyz789';

const opened = onePerFile((t) => seamTest(t));

test('what is advertised', async () => {
  const api = await opened();
  const { httpClient, toolHooks } = (await api.get('/.well-known/openwop')).json();
  const { supported, ssrfGuard, maxResponseBodyBytes, requestTimeoutMs, safeFetch, egressPolicy } =
    httpClient;
  assert.deepEqual(
    [supported, ssrfGuard, maxResponseBodyBytes, requestTimeoutMs],
    [true, true, 10_485_760, 30_000],
  );
  assert.ok(httpClient.methods.includes('GET'));
  assert.deepEqual(safeFetch, { supported: true });
  assert.deepEqual(egressPolicy, { supported: true, decisions: ['allowed', 'denied'] });
  assert.ok(Object.values(toolHooks).every((flag) => flag === true));
});
test('targets inside, rebinding and upgrades are blocked, each with its pair', async () => {
  const api = await opened();
  for (const [body, blocked] of [
    [{ url: METADATA }, 'ssrf'],
    [{ url: 'http://127.0.0.1:6379/' }, 'ssrf'],
    [{ url: 'http://example.com/', simulateRebindTo: '169.254.169.254' }, 'ssrf'],
    [{ url: 'https://example.com/', simulateRebindTo: '169.254.169.254' }, 'ssrf'],
    [{ url: 'https://example.com/', init: { headers: { Connection: 'upgrade' } } }, 'upgrade'],
  ] as const) {
    const answer = await api.drive('http/safe-fetch', body);
    assert.deepEqual([answer.outcome, answer.blocked], ['blocked', blocked], JSON.stringify(answer));
    assert.deepEqual([answer.toolCalled.transport, answer.toolReturned.status], ['http', 'forbidden']);
    assert.equal(answer.toolCalled.callId, answer.toolReturned.callId);
  }
});
test('a blocked request of a run leaves its pair in the log', async () => {
  const api = await opened();
  const { runId, outcome } = await api.drive('http/safe-fetch-run', { url: METADATA });
  assert.equal(outcome, 'blocked');
  const { events } = (await api.get(`/v1/host/sample/test/runs/${runId}/events`)).json();
  const [called, returned] = events.filter(({ type }: RunEventDoc) => type.startsWith('agent.tool'));
  assert.equal(called.payload.transport, 'http');
  assert.deepEqual([returned.payload.callId, returned.causationId], [called.payload.callId, called.eventId]);
});
test('tools: hashes instead of arguments, scopes, rate and failures', async () => {
  const api = await opened();
  const invoke = (more: JsonObject) =>
    api.drive('toolhooks/invoke', { principal: 'core.system', toolName: 'web.search', ...more });
  const ok = await invoke({ args: { apiKey: CANARY, q: 'openwop' } });
  assert.ok(ok.toolCalled.argsHash.length > 0 && ok.toolReturned.durationMs >= 0);
  assert.equal(ok.toolReturned.status, 'ok');
  assert.ok(!JSON.stringify(ok).includes(CANARY));
  const requiredScopes = ['db:write'];
  const { toolReturned: refused } = await invoke({ principal: 'conformance-unprivileged', requiredScopes });
  assert.deepEqual([refused.status, refused.durationMs], ['forbidden', undefined]);
  const { toolReturned: limited } = await invoke({ simulateRateLimitExhausted: true });
  assert.deepEqual([limited.status, limited.durationMs], ['rate_limited', undefined]);
  const { toolReturned: failed } = await invoke({ simulateToolError: true });
  assert.deepEqual(
    [failed.status, failed.error.code, failed.outcome],
    ['error', 'internal_error', undefined],
  );
});
test('credentials go to their audiences, and nowhere else', async () => {
  const api = await opened();
  for (const [scenario, decision, reason] of [
    ['out-of-audience', 'denied', 'out-of-audience'],
    ['provenance-unevaluable', 'denied', 'provenance-unevaluable'],
    ['in-audience', 'allowed', 'ok'],
    ['canary', 'allowed', 'ok'],
  ]) {
    const answer = await api.drive('egress/decide', { scenario });
    assert.deepEqual([answer.decision, answer.reason], [decision, reason]);
    assert.deepEqual([answer.credentialAttached, answer.canaryLeaked], [decision === 'allowed', false]);
    assert.equal(answer.destination, 'service.example.net');
  }
});
