import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';

/** Compares with the file beside this one. `GANTRY_UPDATE_GOLDEN=1` writes it. */
export function assertGolden(name: string, dump: string): void {
  const path = `${import.meta.dirname}/${name}`;
  if (process.env.GANTRY_UPDATE_GOLDEN === '1') writeFileSync(path, dump);
  assert.equal(dump, readFileSync(path, 'utf8'));
}
