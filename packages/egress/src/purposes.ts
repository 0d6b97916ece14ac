/** The egress instances of one process: each purpose has its own policy. */
import { type AllowEntry, entryOf } from './allow-entry.ts';
import { createEgress, type Egress, type EgressOptions } from './egress.ts';
import { type EgressPurpose, PUBLIC_POLICY } from './policy.ts';

export interface EgressByPurpose {
  /** `configured`: addresses from the settings. Each is allowed by its exact origin. */
  for(purpose: EgressPurpose, configured?: readonly string[]): Egress;
  /** To public addresses only, whatever the operator has opened: for addresses from outside sources. */
  readonly public: Egress;
  /** Closes idle connections. */
  close(): void;
}

export interface EgressByPurposeOptions extends Pick<EgressOptions, 'credentials'> {
  readonly allow?: readonly AllowEntry[];
  readonly dnsServers?: readonly string[];
}

/** `createEgressByPurpose({ allow }).for('webhook')` */
export function createEgressByPurpose({
  allow = [],
  dnsServers = [],
  credentials = {},
}: EgressByPurposeOptions = {}): EgressByPurpose {
  const made = new Map<string, Egress>();
  const make = (purpose: EgressPurpose, configured: readonly string[]): Egress => {
    const named = configured.map((address) => entryOf(address, purpose));
    const entries = [...named, ...allow.filter((entry) => entry.purpose === purpose)];
    return createEgress({ policy: { purpose, allow: entries }, dnsServers, credentials });
  };
  const open = createEgress({ policy: PUBLIC_POLICY, dnsServers, credentials });
  return {
    public: open,
    for: (purpose, configured = []) => {
      const key = [purpose, ...configured].join(' ');
      const egress = made.get(key) ?? make(purpose, configured);
      made.set(key, egress);
      return egress;
    },
    close: () => {
      for (const egress of [open, ...made.values()]) egress.close();
    },
  };
}
