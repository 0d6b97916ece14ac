/** Every literal against the seed's failure codes and the public shapes of its advertisement. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publicValidator, skipWithoutPublicData } from '../../../protocol/src/testing/public-schemas.ts';
import { embeddedCallGate } from '../testing/embedded-call-gate.ts';
import { SURFACES } from './catalogue.ts';

test('what is advertised is what the protocol asks for', async () => {
  const { callGate } = await embeddedCallGate();
  const { kvStorage, cache, tableStorage, nosql } = callGate.discovery();
  assert.deepEqual(
    { kvStorage, cache, tableStorage, nosql },
    {
      kvStorage: {
        supported: true,
        maxKeyBytes: 256,
        maxValueBytes: 1_048_576,
        maxTtlSeconds: 2_592_000,
        atomicIncrement: true,
        compareAndSwap: true,
      },
      cache: { supported: true, maxValueBytes: 1_048_576, maxTtlSeconds: 86_400 },
      tableStorage: {
        supported: true,
        maxRowsPerTable: 250_000,
        maxColumnsPerRow: 64,
        indexable: true,
        fullTextSearch: false,
      },
      nosql: { supported: true, datasources: [{ id: 'primary', driver: 'sqlite' }] },
    },
  );
});

test('advertisements fit the public schema', { skip: skipWithoutPublicData }, async () => {
  const { callGate } = await embeddedCallGate();
  const validate = publicValidator('capabilities.schema.json');
  const wrong = validate?.(callGate.discovery()).filter((problem) =>
    /kvStorage|cache|tableStorage|nosql|blobStorage|\/fs\b/i.test(problem),
  );
  assert.deepEqual(wrong, []);
});

test('names, paths and needs are in order', () => {
  const paths = SURFACES.flatMap(({ path, methods }) =>
    Object.keys(methods).map((name) => `${path}.${name}`),
  );
  assert.equal(new Set(paths).size, paths.length);
  for (const { methods, options = {}, capability } of SURFACES) {
    for (const [name, { needs, kind, effect }] of Object.entries(methods)) {
      assert.ok(
        needs === undefined || needs in options,
        `${capability}.${name} needs an option that there is`,
      );
      assert.ok(kind !== 'stream' || effect === 'read', `${capability}.${name} streams, so it only reads`);
    }
  }
});
