import assert from 'node:assert/strict';
import { test } from 'node:test';
import { licensesOf } from './sbom.ts';

test('only identifiers of SPDX are called so', () => {
  assert.deepEqual(licensesOf('MIT'), [{ license: { id: 'MIT' } }]);
  assert.deepEqual(licensesOf('MIT OR Apache-2.0'), [{ expression: 'MIT OR Apache-2.0' }]);
  assert.deepEqual(licensesOf('mit'), [{ license: { name: 'mit' } }]);
  assert.deepEqual(licensesOf('MIT OR our own'), [{ license: { name: 'MIT OR our own' } }]);
});
