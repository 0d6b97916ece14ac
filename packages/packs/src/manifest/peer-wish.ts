/** A peer dependency as it is written: what its value asks for, and what is wrong with it on any host. */
import { meantCapability } from '@gantry/protocol';
import semver from 'semver';

export type PeerWish =
  | { readonly kind: 'present' }
  | { readonly kind: 'optional' }
  | { readonly kind: 'level'; readonly level: string }
  | { readonly kind: 'version'; readonly range: string }
  | { readonly kind: 'unreadable' };

const PRESENT = new Set(['supported', 'required', '*']);

export function readWish(wanted: string): PeerWish {
  if (PRESENT.has(wanted)) return { kind: 'present' };
  if (wanted === 'optional') return { kind: 'optional' };
  const level = /^>=\s*([a-z][\w-]*)$/i.exec(wanted)?.[1];
  if (level !== undefined) return { kind: 'level', level };
  return semver.validRange(wanted) === null ? { kind: 'unreadable' } : { kind: 'version', range: wanted };
}

export const VALUE_PROBLEM =
  'is not a valid value: write "supported", "optional", a level such as ">=long-term" or a version such as "^1.2"';

export function nameProblem(name: string): string {
  const meant = meantCapability(name);
  const hint = meant === undefined ? 'docs/capabilities.md lists them' : `did you mean ${meant}?`;
  return `is not a known capability (${hint})`;
}
