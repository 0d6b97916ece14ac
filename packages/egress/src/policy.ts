import type { AllowEntry } from './allow-entry.ts';

/** The purpose of a request. The operator opens addresses per purpose. */
export const PURPOSES = [
  'webhook',
  'registry',
  'remote-pack',
  'raw-fetch',
  'provider',
  'mcp',
  'oauth',
  'connector',
] as const;

export type EgressPurpose = (typeof PURPOSES)[number];

/** The tenant of entries and requests that name none. */
export const DEFAULT_TENANT = 'default';

/** Where requests may go: over https to public addresses, and to anything that `allow` opens. */
export interface EgressPolicy {
  readonly allow: readonly AllowEntry[];
  /** If set, a refusal names the entry of `GANTRY_EGRESS_ALLOW` that would allow the call. */
  readonly purpose?: EgressPurpose;
}

export const PUBLIC_POLICY: EgressPolicy = { allow: [] };
