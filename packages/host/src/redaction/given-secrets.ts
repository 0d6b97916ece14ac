/**
 * Values that pack code was given, by whichever process. They are kept, sealed, as long as a run may carry them, also
 * when their credential was changed or removed: a process knows them before it works on a run of their tenant.
 */
import type { SecretValue } from '@gantry/protocol/redaction';
import { type Change, fromEntry, openSecret, type RecordKind, type Secret } from '@gantry/resources';
import type { Entry, Store } from '@gantry/store';
import type { Logger } from 'pino';
import type { MasterKey } from '../master-key.ts';
import type { Redactions } from './redactions.ts';

interface GivenSecret {
  readonly value: Secret;
  readonly label: string;
  /** No run that was given it is kept any longer. */
  readonly until: number;
}

const givenSecrets: RecordKind<GivenSecret> = {
  kind: 'given-secret',
  idPrefix: 'gs',
  secret: ['value'],
  expiresAt: ({ until }) => until,
};

const PAGE = 200;
const DAY_MS = 86_400_000;
const UNKNOWN =
  'a value that pack code was given cannot be redacted: it does not open, or there is no room for it';

export interface GivenSecretsOptions {
  readonly store: Pick<Store, 'entries'>;
  readonly masterKey: Pick<MasterKey, 'open' | 'hmac'>;
  readonly redactions: Pick<Redactions, 'keep'>;
  readonly log: Logger;
  readonly now: () => number;
  /** How long a run and its log are kept at most. */
  readonly keptMs: number;
  /** Other processes may give values too: how soon they are looked for again. Null when there are none. */
  readonly lookAgainMs: number | null;
}

export interface GivenSecrets {
  /** In the change that gives the value. False: it must not be given, since it could not be redacted. */
  give(change: Change, secret: SecretValue): Promise<boolean>;
  /** Undefined while everything that was given in the tenant is known here. */
  known(tenant: string): Promise<void> | undefined;
}

interface Known {
  readonly ids: Set<string>;
  readonly at: number;
}

export function createGivenSecrets(options: GivenSecretsOptions): GivenSecrets {
  const { store, masterKey, redactions, log, now, keptMs, lookAgainMs } = options;
  const idOf = masterKey.hmac('given-secret');
  const known = new Map<string, Known>();
  const loading = new Map<string, Promise<void>>();

  async function load(tenant: string): Promise<void> {
    const at = now();
    const ids = known.get(tenant)?.ids ?? new Set<string>();
    for (let beforeId: string | undefined; ; ) {
      const filter = { limit: PAGE, ...(beforeId !== undefined && { beforeId }) };
      const page = await store.entries.list(givenSecrets.kind, tenant, filter);
      for (const entry of page) if (!ids.has(entry.id)) learn(entry, ids);
      if (page.length < PAGE) break;
      beforeId = page.at(-1)!.id;
    }
    known.set(tenant, { ids, at });
  }

  function learn(entry: Entry, ids: Set<string>): void {
    const stored = fromEntry(givenSecrets, entry);
    const value = openSecret(masterKey, stored, 'value');
    if (value !== null && redactions.keep(stored.tenant, value, stored.record.label)) ids.add(stored.id);
    else log.error({ tenant: stored.tenant, ref: stored.record.label }, UNKNOWN);
  }

  return {
    async give(change, { value, label }) {
      const { tenant } = change.caller;
      if (!redactions.keep(tenant, value, label)) return false;
      const id = idOf(`${tenant}\0${value}`).toString('base64url');
      const before = await change.find(givenSecrets, id);
      const until = change.now + keptMs;
      if (!before) change.create(givenSecrets, { value, label, until }, id);
      else if (before.record.until < until - DAY_MS) change.update(before, { until });
      return true;
    },
    known(tenant) {
      const last = known.get(tenant);
      if (last && (lookAgainMs === null || now() < last.at + lookAgainMs)) return undefined;
      const under = loading.get(tenant) ?? load(tenant).finally(() => loading.delete(tenant));
      loading.set(tenant, under);
      return under;
    },
  };
}
