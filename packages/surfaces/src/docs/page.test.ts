import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { SURFACE_NAMES, surfacesNamedBy } from '@gantry/protocol';
import { SURFACES } from '../calls/catalogue.ts';
import type { ImplementedSurface } from '../calls/define-surface.ts';
import { createRoutes } from '../calls/routes.ts';
import { CAPABILITY_PAGE, capabilityPage } from './page.ts';

test('docs/capabilities.md is what the literals say', () => {
  // Not `equal`: the difference of two whole pages is hard to read.
  const isCurrent = readFileSync(CAPABILITY_PAGE, 'utf8') === capabilityPage(SURFACES);
  assert.ok(isCurrent, 'renew it: node packages/surfaces/src/docs/write.ts');
});

test('every surface that the protocol names has a literal', () => {
  const named = SURFACE_NAMES.map(({ capability }) => capability);
  assert.deepEqual(
    SURFACES.map(({ capability }) => capability),
    named,
  );
});

test('what a pack is told that it may call is what its calls are judged by', () => {
  const surfaces = SURFACES.map(
    (literal): ImplementedSurface => ({
      literal,
      lacks: [],
      advertises: {},
      journalOf: () => 'own',
      act: () => assert.fail('nothing is called'),
    }),
  );
  const { namedBy } = createRoutes(surfaces, []);
  for (const peers of [
    ['host.kvStorage'],
    ['storage.table', 'host.db.sql'],
    ['kvStorage.atomicIncrement', 'openwop.queue'],
    ['host.fs', 'aiProviders'],
    ['kvStorages', 'host.cache.x'],
  ])
    assert.deepEqual(
      [...namedBy(peers)].map(({ literal }) => literal.capability),
      surfacesNamedBy(peers),
    );
});
