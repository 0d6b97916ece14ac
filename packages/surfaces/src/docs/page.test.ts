import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { SURFACE_NAMES, surfacesNamedBy } from '@gantry/protocol';
import { SURFACES } from '../catalogue.ts';
import type { ImplementedSurface } from '../define-surface.ts';
import { createRoutes } from '../routes.ts';
import { ctxTypes } from './ctx-types.ts';
import { capabilityPage } from './page.ts';
import { CAPABILITY_PAGE, CTX_TYPES } from './written.ts';

/** Not `equal`: two whole pages tell nobody anything. */
function holds(file: URL, made: string): void {
  assert.ok(readFileSync(file, 'utf8') === made, 'renew it: node packages/surfaces/src/docs/write.ts');
}

test('docs/capabilities.md is what the literals say', () => {
  holds(CAPABILITY_PAGE, capabilityPage(SURFACES));
});

test('the types of ctx are what the literals say', () => {
  holds(CTX_TYPES, ctxTypes(SURFACES));
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
