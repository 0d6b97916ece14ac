import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as resources from './resources/index.ts';
import { TABLES_FILE, tablesText } from './testing/print-tables.ts';

test('tables.ts is what the wires of resources say', () => {
  const isCurrent = readFileSync(TABLES_FILE, 'utf8') === tablesText(resources);
  assert.ok(isCurrent, 'A resource has changed. Renew the tables of clients: npm run tables');
});

test('the list of resources is sorted, so that two that are added do not meet', () => {
  const list = readFileSync(new URL('./resources/index.ts', import.meta.url), 'utf8');
  const lines = list.split('\n').filter((line) => line.startsWith('export'));
  assert.deepEqual(lines, [...lines].sort());
});

test('a wire that is not named after its path is refused', () => {
  assert.throws(
    () => tablesText({ noteWire: resources.actsWire }),
    /exported as noteWire\. Name it actsWire/,
  );
});
