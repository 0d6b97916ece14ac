/** A licence as CycloneDX wants it: an SPDX identifier, an expression of such, or a plain name. */
import type { JsonObject } from '@gantry/protocol';

/** Identifiers that packs use in practice. Validators refuse an `id` that SPDX does not list; others become names. */
const SPDX_IDS = new Set([
  '0BSD',
  'AGPL-3.0-only',
  'AGPL-3.0-or-later',
  'Apache-2.0',
  'Artistic-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BSL-1.0',
  'CC-BY-4.0',
  'CC-BY-SA-4.0',
  'CC0-1.0',
  'EPL-2.0',
  'EUPL-1.2',
  'GPL-2.0-only',
  'GPL-2.0-or-later',
  'GPL-3.0-only',
  'GPL-3.0-or-later',
  'ISC',
  'LGPL-2.1-only',
  'LGPL-2.1-or-later',
  'LGPL-3.0-only',
  'LGPL-3.0-or-later',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'Python-2.0',
  'Unlicense',
  'Zlib',
]);

export function licensesOf(license: string): JsonObject[] {
  const parts = license.split(/ (?:OR|AND) /);
  if (!parts.every((part) => SPDX_IDS.has(part))) return [{ license: { name: license } }];
  return parts.length === 1 ? [{ license: { id: license } }] : [{ expression: license }];
}
