/** Links for people that were taken back. Of one that was not, nothing is stored. */
import { hash } from 'node:crypto';
import { type Caller, type Changes, type RecordKind, readRecord } from '@gantry/resources';
import type { EntryReads } from '@gantry/store';
import type { TokenClaims } from './interrupt-token.ts';

interface Revocation {
  readonly runId: string;
  /** Links that were made up to then answer no more. */
  readonly before: number;
  /** No such link lives longer. */
  readonly until: number;
}

const revocations: RecordKind<Revocation> = {
  kind: 'link-revocation',
  idPrefix: 'lrv',
  expiresAt: ({ until }) => until,
  endsWithRun: ({ runId }) => runId,
};

type Links = Pick<TokenClaims, 'runId' | 'interruptId' | 'expiresAt'> & { readonly person: string };

const idOf = ({ interruptId, person }: Pick<Links, 'interruptId' | 'person'>): string =>
  `lrv_${hash('sha256', JSON.stringify([interruptId, person]), 'hex')}`;

export class LinkRevocations {
  readonly #changes: Changes;
  readonly #entries: Pick<EntryReads, 'get'>;

  constructor({ changes, store }: { readonly changes: Changes; readonly store: { entries: EntryReads } }) {
    this.#changes = changes;
    this.#entries = store.entries;
  }

  /** Those that the person has by now; one that is made later works. */
  revoke(caller: Caller, links: Links): Promise<void> {
    const { runId, expiresAt: until } = links;
    return this.#changes.run(caller, async (change) => {
      await change.put(revocations, { runId, before: change.now, until }, idOf(links));
    });
  }

  async isRevoked({ tenant, interruptId, person, madeAt }: TokenClaims): Promise<boolean> {
    if (person === undefined || madeAt === undefined) return false;
    const found = await readRecord(this.#entries, revocations, tenant, idOf({ interruptId, person }));
    return found !== null && madeAt <= found.record.before;
  }
}
