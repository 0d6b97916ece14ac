import type { AllowEntry } from './allow-entry.ts';

/** What a request is for. The operator opens addresses for one purpose at a time. */
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

/** An entry without a tenant, and a request without one, belong to this tenant. */
export const DEFAULT_TENANT = 'default';

/** Where requests may go: over https to public addresses, and wherever `allow` opens beyond that. */
export interface EgressPolicy {
  readonly allow: readonly AllowEntry[];
  /** With it a refusal names the entry of `GANTRY_EGRESS_ALLOW` that would allow the call. */
  readonly purpose?: EgressPurpose;
}

export const PUBLIC_POLICY: EgressPolicy = { allow: [] };
