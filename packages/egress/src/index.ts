export { type AddressClass, type AddressKind, classifyAddress } from './address.ts';
export {
  createEgress,
  type Egress,
  type EgressOptions,
  type EgressRequest,
  type EgressResponse,
  type EgressStream,
} from './egress.ts';
export { EgressError, type EgressProblem, type EgressReason } from './error.ts';
export { type EgressPolicy, LOOPBACK_POLICY, PUBLIC_POLICY } from './policy.ts';
export type { Lookup } from './resolve.ts';
export { checkUrl } from './target.ts';
