import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function freshFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'gantry-surfaces-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
