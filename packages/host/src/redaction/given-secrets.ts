/**
 * Values that any process passed to pack code, and those that servers echoed into an answer that a run got. They are kept, sealed, as long as a run may hold them, even if
 * their credential was changed or removed: a process loads them before it works on a run of their tenant.
 * They are deleted when their credential no longer has them and the last run that received them is deleted.
 */
import type { SecretValue } from '@gantry/protocol/redaction';
import {
  type Change,
  everyRecord,
  listRecords,
  openSecret,
  type RecordKind,
  readRecord,
  type Secret,
  type Stored,
  systemCaller,
} from '@gantry/resources';
import type { Store, Write } from '@gantry/store';
import { credentials, versionOf } from '../credentials/credential.ts';
import type { MasterKey } from '../master-key.ts';
import type { Parts } from '../parts.ts';
import type { GivenValues, Received, Redactions } from './redactions.ts';

interface GivenSecret {
  readonly value: Secret;
  /** The credential, and the version of its value. */
  readonly label: string;
  readonly version: number;
  /** By this time all runs that received the value are deleted. */
  readonly until: number;
}

export const givenSecrets: RecordKind<GivenSecret> = {
  kind: 'given-secret',
  idPrefix: 'gs',
  secret: ['value'],
  expiresAt: ({ until }) => until,
};

/** A run that received a value, with a reference to it. */
export const givenRuns: RecordKind<{ readonly runId: string; readonly given: string }> = {
  kind: 'given-run',
  idPrefix: 'gr',
  ref: ({ given }) => given,
  endsWithRun: ({ runId }) => runId,
};

const PAGE = 200;
const DAY_MS = 86_400_000;
/** Longer than the duration of a change. */
const GIVING_MS = 60_000;
const UNKNOWN =
  'a value that pack code was given cannot be redacted: it does not open, or there is no room for it';

export interface GivenSecretsOptions extends Pick<Parts, 'changes' | 'now' | 'log'> {
  readonly store: Pick<Store, 'entries'>;
  readonly masterKey: Pick<MasterKey, 'open' | 'hmac'>;
  readonly redactions: Pick<Redactions, 'keep' | 'forget'>;
  /** Maximum time that a run and its log are kept. */
  readonly keptMs: number;
  /** The interval for loading values that other processes passed on. Null if there are no other processes. */
  readonly lookAgainMs: number | null;
}

export interface Giving extends SecretValue {
  readonly version: number;
  readonly runId: string;
}

interface Known {
  /** The values, by id. */
  readonly values: ReadonlyMap<string, string>;
  readonly at: number;
}

export class GivenSecrets implements GivenValues {
  readonly #options: GivenSecretsOptions;
  readonly #idOf: (text: string) => Buffer;
  readonly #known = new Map<string, Known>();
  readonly #loading = new Map<string, Promise<void>>();
  readonly #givenAt = new Map<string, number>();

  constructor(options: GivenSecretsOptions) {
    this.#options = options;
    this.#idOf = options.masterKey.hmac('given-secret');
  }

  /** Part of the change that passes the value. False: it must not be passed, since it could not be redacted. */
  async give(change: Change, { value, label, version, runId }: Giving): Promise<boolean> {
    const { redactions, keptMs } = this.#options;
    const { tenant } = change.caller;
    if (!redactions.keep(tenant, value, label, version)) return false;
    const id = this.#idOf(`${tenant}\0${value}`).toString('base64url');
    this.#givenAt.set(id, change.now);
    const before = await change.find(givenSecrets, id);
    const until = change.now + keptMs;
    const isNewRun = (await change.find(givenRuns, `${id}/${runId}`)) === null;
    if (isNewRun) change.create(givenRuns, { runId, given: id }, `${id}/${runId}`);
    if (!before) change.create(givenSecrets, { value, label, version, until }, id);
    else if (isNewRun || before.record.until < until - DAY_MS)
      change.update(before, { label, version, until });
    return true;
  }

  async marking(tenant: string, received: readonly Received[]): Promise<readonly Write[] | null> {
    let isGiven = true;
    const caller = systemCaller('journal', { tenant });
    const writes = await this.#options.changes.writesOf(caller, async (change) => {
      for (const { runId, secrets } of received)
        for (const { version = 0, ...secret } of secrets)
          isGiven &&= await this.give(change, { ...secret, version, runId });
    });
    return isGiven ? writes : null;
  }

  known(tenant: string): Promise<void> | undefined {
    const { now, lookAgainMs } = this.#options;
    const last = this.#known.get(tenant);
    if (last && (lookAgainMs === null || now() < last.at + lookAgainMs)) return undefined;
    const under = this.#loading.get(tenant) ?? this.#load(tenant).finally(() => this.#loading.delete(tenant));
    this.#loading.set(tenant, under);
    return under;
  }

  async allKnown(tenant: string): Promise<void> {
    await (this.#options.lookAgainMs === null ? this.known(tenant) : this.#load(tenant));
  }

  /** Deletes values that can no longer be passed on and that no run holds. */
  async sweep(): Promise<number> {
    const { store, now } = this.#options;
    let dropped = 0;
    for await (const stored of everyRecord(store.entries, givenSecrets)) dropped += await this.#drop(stored);
    for (const tenant of this.#known.keys()) await this.#load(tenant);
    for (const [id, at] of this.#givenAt) if (at + GIVING_MS < now()) this.#givenAt.delete(id);
    return dropped;
  }

  async #load(tenant: string): Promise<void> {
    const { store, redactions, now } = this.#options;
    const at = now();
    const before = this.#known.get(tenant)?.values ?? new Map<string, string>();
    const values = new Map<string, string>();
    for (let beforeId: string | undefined; ; ) {
      const filter = { limit: PAGE, ...(beforeId !== undefined && { beforeId }) };
      const page = await listRecords(store.entries, givenSecrets, tenant, filter);
      for (const stored of page) {
        const value = before.get(stored.id) ?? this.#learn(stored);
        if (value !== null) values.set(stored.id, value);
      }
      if (page.length < PAGE) break;
      beforeId = page.at(-1)!.id;
    }
    for (const [id, value] of before) {
      if (values.has(id)) continue;
      // The change that passes it again may not be committed yet
      if (at < (this.#givenAt.get(id) ?? 0) + GIVING_MS) values.set(id, value);
      else redactions.forget(tenant, value);
    }
    this.#known.set(tenant, { values, at });
  }

  #learn(stored: Stored<GivenSecret>): string | null {
    const { masterKey, redactions, log } = this.#options;
    const value = openSecret(masterKey, stored, 'value');
    const { label, version } = stored.record;
    if (value !== null && redactions.keep(stored.tenant, value, label, version)) return value;
    log.error({ tenant: stored.tenant, ref: label }, UNKNOWN);
    return null;
  }

  async #drop(stored: Stored<GivenSecret>): Promise<number> {
    if (!(await this.#isOver(stored))) return 0;
    // Fails if it was passed again since, in a commit that raised its version
    return Number(await this.#options.changes.settle('retention', stored, null));
  }

  /** Whether the value can no longer be passed on, and no run holds it. */
  async #isOver({ tenant, id, record }: Stored<GivenSecret>): Promise<boolean> {
    const { entries } = this.#options.store;
    const credential = await readRecord(entries, credentials, tenant, record.label);
    const isLive = credential && versionOf(credential.record, record.version, this.#options.now());
    return !isLive && (await entries.list(givenRuns.kind, tenant, { ref: id, limit: 1 })).length === 0;
  }
}
