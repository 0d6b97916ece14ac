import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessOf, documentedPath } from './access.ts';

test('paths are documented without the router syntax', () => {
  assert.equal(documentedPath('/v1/runs'), '/v1/runs');
  assert.equal(documentedPath('/v1/runs/:runId/events'), '/v1/runs/{runId}/events');
  assert.equal(documentedPath('/v1/runs/:runId(^[^:/]+)::pause'), '/v1/runs/{runId}:pause');
  assert.equal(documentedPath('/v1/runs::bulk-cancel'), '/v1/runs:bulk-cancel');
});

test('a route that nobody gave an access rule does not start', () => {
  assert.throws(() => accessOf({}, 'GET', '/v1/secrets'), /no access rule for GET \/v1\/secrets/);
});
