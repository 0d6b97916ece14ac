import type { AddressKind } from './address.ts';

/** Where requests may go. Metadata services, link-local and reserved addresses are open to no policy. */
export interface EgressPolicy {
  readonly schemes: readonly ('https' | 'http')[];
  readonly allowLoopback: boolean;
  /** Opens RFC 1918, shared and unique local addresses and the names that usually lead there. */
  readonly allowPrivate: boolean;
  /** Exactly these ports; without it every port except those of other well-known protocols. */
  readonly ports?: readonly number[];
}

export const PUBLIC_POLICY: EgressPolicy = { schemes: ['https'], allowLoopback: false, allowPrivate: false };

/** For addresses that an operator named, which may lie in their own network. */
export const NAMED_POLICY: EgressPolicy = { ...PUBLIC_POLICY, allowPrivate: true };

/** For tests and development: scheme and loopback open together, or no local receiver can be reached. */
export const LOOPBACK_POLICY: EgressPolicy = {
  schemes: ['https', 'http'],
  allowLoopback: true,
  allowPrivate: false,
};

export function allowsAddress(policy: EgressPolicy, kind: AddressKind): boolean {
  switch (kind) {
    case 'public':
      return true;
    case 'loopback':
      return policy.allowLoopback;
    case 'private':
      return policy.allowPrivate;
    case 'metadata':
    case 'reserved':
      return false;
  }
}
