import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Compares with a file in `golden/`; `GANTRY_UPDATE_GOLDEN=1` writes it. */
export function matchesGolden(name: string, text: string): void {
  const path = join(import.meta.dirname, 'golden', name);
  if (process.env.GANTRY_UPDATE_GOLDEN === '1') writeFileSync(path, text);
  assert.equal(text, readFileSync(path, 'utf8'), `${name} differs: raise SCHEMA_VERSION with the schema`);
}
