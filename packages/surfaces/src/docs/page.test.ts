import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { SURFACES } from '../catalogue.ts';
import { capabilityPage } from './page.ts';

test('docs/capabilities.md is what the literals say; `node packages/surfaces/src/docs/write.ts` renews it', () => {
  const written = readFileSync(join(import.meta.dirname, '../../../../docs/capabilities.md'), 'utf8');
  assert.equal(written, capabilityPage(SURFACES));
});
