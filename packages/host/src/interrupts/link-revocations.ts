/** Revoked links for people. Valid links are not stored. */
import { hash } from 'node:crypto';
import { type Caller, type RecordKind, readRecord } from '@gantry/resources';
import type { Parts } from '../parts.ts';
import type { TokenClaims } from './interrupt-token.ts';

interface Revocation {
  readonly runId: string;
  /** Links that were made up to this time are revoked. */
  readonly before: number;
  /** All of these links have expired by this time. */
  readonly until: number;
}

export const revocations: RecordKind<Revocation> = {
  kind: 'link-revocation',
  idPrefix: 'lrv',
  expiresAt: ({ until }) => until,
  endsWithRun: ({ runId }) => runId,
};

type Links = Pick<TokenClaims, 'runId' | 'interruptId' | 'expiresAt'> & { readonly person: string };

const idOf = ({ interruptId, person }: Pick<Links, 'interruptId' | 'person'>): string =>
  `lrv_${hash('sha256', JSON.stringify([interruptId, person]), 'hex')}`;

export type LinkRevocations = ReturnType<typeof linkRevocations>;

export const linkRevocations = ({ changes, store }: Pick<Parts, 'changes' | 'store'>) => ({
  /** Revokes the existing links of the person; later ones are valid. */
  async revoke(caller: Caller, links: Links): Promise<void> {
    const { runId, expiresAt: until } = links;
    await changes.run(caller, (change) =>
      change.put(revocations, { runId, before: change.now, until }, idOf(links)),
    );
  },
  async isRevoked({ tenant, interruptId, person, madeAt }: TokenClaims): Promise<boolean> {
    if (person === undefined || madeAt === undefined) return false;
    const found = await readRecord(store.entries, revocations, tenant, idOf({ interruptId, person }));
    return found !== null && madeAt <= found.record.before;
  },
});
