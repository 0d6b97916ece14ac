export { type AllowEntry, readAllowList } from './allow-entry.ts';
export {
  type CredentialProvenance,
  decideEgress,
  type EgressCredential,
  type EgressDecision,
  egressDecision,
  isAudience,
} from './audience.ts';
export {
  createEgress,
  type Egress,
  type EgressRequest,
  type EgressResponse,
  type EgressStream,
  type EgressTerms,
} from './egress.ts';
export { EgressError, type EgressReason, egressError } from './error.ts';
export { egressFetch, type FetchTerms } from './fetch.ts';
export { callerHeaders, METHODS, type Outgoing } from './outgoing.ts';
export { type EgressPolicy, type EgressPurpose, PUBLIC_POLICY } from './policy.ts';
export { createEgressByPurpose, type EgressByPurpose } from './purposes.ts';
export type { Lookup } from './resolve.ts';
