export {
  createEgress,
  type Egress,
  type EgressRequest,
  type EgressResponse,
  type EgressTerms,
  egressTo,
} from './egress.ts';
export { EgressError, type EgressReason } from './error.ts';
export { type EgressPolicy, LOOPBACK_POLICY, PUBLIC_POLICY } from './policy.ts';
export type { Lookup } from './resolve.ts';
