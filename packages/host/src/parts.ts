/** Common dependencies of parts of the host. Each picks those that it uses: `Pick<Parts, 'changes' | 'now'>`. */
import type { Changes } from '@gantry/resources';
import type { Store } from '@gantry/store';
import type { Logger } from 'pino';
import type { MasterKey } from './master-key.ts';
import type { Redactions } from './redaction/redactions.ts';
import type { Clock } from './runtime/clock.ts';

export interface Parts {
  readonly store: Store;
  readonly changes: Changes;
  readonly masterKey: MasterKey;
  readonly redactions: Redactions;
  readonly clock?: Clock;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
}
