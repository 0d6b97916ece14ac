import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentsOf, type ManifestsByName } from '../registry/testing/memory-registry.ts';
import { lockFrom, registriesOf, roots, SHARED, TOOLS } from '../testing/locks.ts';
import { outdated } from './outdated.ts';

const before: ManifestsByName = {
  [TOOLS]: { '1.0.0': { dependencies: { [SHARED]: '~1.2.0' }, runtime: { requires: ['net.dns'] } } },
  [SHARED]: { '1.2.0': {} },
};
const after: ManifestsByName = {
  [TOOLS]: {
    '1.0.0': {
      ...before[TOOLS]?.['1.0.0'],
      deprecated: true,
      deprecationReason: 'old',
      supersededBy: '1.1.0',
    },
    '1.1.0': { runtime: { requires: ['net.outbound'] } },
    '2.0.0': {},
    '3.0.0-beta.1': {},
  },
  [SHARED]: {
    '1.2.0': { yanked: true, yankedReason: 'leaks' },
    '1.2.3': {},
    '1.9.0': {},
    '1.9.1': { yanked: true },
  },
};
const advisory = {
  id: 'OPENWOP-2026-0001',
  publishedAt: '2026-05-20',
  severity: 'high',
  summary: 'Leaks.',
  affected: [{ packName: SHARED, versions: '<1.2.3', fixedIn: '1.2.3' }],
};

test('tells current, wanted and latest, what is said against the current one, and what permissions change', async () => {
  const documents = documentsOf(after);
  documents.set('/security/advisories.json', Buffer.from(JSON.stringify({ advisories: [advisory] })));
  const [shared, tools] = await outdated(await lockFrom(documentsOf(before)), roots, registriesOf(documents));
  assert.deepEqual(shared, {
    name: SHARED,
    current: '1.2.0',
    wanted: '1.2.3',
    latest: '1.9.0',
    yanked: { reason: 'leaks' },
    advisories: [{ id: 'OPENWOP-2026-0001', severity: 'high', fixedIn: '1.2.3' }],
    permissions: { added: [], removed: [], kept: [] },
  });
  assert.deepEqual(tools, {
    name: TOOLS,
    current: '1.0.0',
    wanted: '1.1.0',
    latest: '2.0.0',
    deprecated: { reason: 'old', supersededBy: '1.1.0' },
    advisories: [],
    permissions: { added: ['net.outbound'], removed: ['net.dns'], kept: [] },
  });
});

test('packs that nobody asks for stay as they are, and those that nobody knows are left out', async () => {
  const lock = await lockFrom(documentsOf(before));
  const [shared, tools] = await outdated(lock, [], registriesOf(documentsOf(after)));
  assert.equal(tools?.wanted, '1.0.0');
  assert.equal(shared?.wanted, '1.2.3');
  assert.deepEqual(await outdated(lock, roots, registriesOf(documentsOf({}))), []);
});
