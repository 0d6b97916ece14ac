/** What people do with credentials. A value goes in; no answer has one. */
import { isAudience } from '@gantry/egress';
import {
  CREDENTIAL_LIMITS,
  type CreateCredentialRequest,
  type Credential,
  type CredentialKind,
  type CredentialShare,
  OpenwopError,
  type Owner,
  ownerOf,
  type RotateCredentialRequest,
} from '@gantry/protocol';
import { type Caller, type Change, type Changes, fromEntry, type Shown } from '@gantry/resources';
import type { EntryFilter, Store } from '@gantry/store';
import type { Redactions } from '../redaction/redactions.ts';
import {
  accessOf,
  type CredentialRecord,
  type CredentialVersion,
  contextOf,
  credentials,
  isLive,
  newest,
  readersOf,
  type StoredCredential,
  secretParts,
  shareOf,
  viewOf,
  withVersion,
} from './credential.ts';
import { storedValue, type ValueOptions } from './value.ts';

const {
  perTenantMax,
  perRunMax,
  versionsMax,
  sharesMax,
  overlapSecondsDefault,
  redactableMin,
  valueBytesMax,
} = CREDENTIAL_LIMITS;

const COUNT = { kind: 'credential-count', id: 'all' } as const;

const PLACES: Readonly<Record<CredentialKind, { header: string; prefix: string }>> = {
  api_key: { header: 'x-api-key', prefix: '' },
  bearer: { header: 'authorization', prefix: 'Bearer ' },
  basic: { header: 'authorization', prefix: 'Basic ' },
  oauth2: { header: 'authorization', prefix: 'Bearer ' },
};

export interface CredentialServiceOptions extends ValueOptions {
  readonly store: Pick<Store, 'entries' | 'runs'>;
  readonly changes: Changes;
  readonly redactions: Pick<Redactions, 'note'>;
  readonly now: () => number;
}

type Verbs = {
  rotate: RotateCredentialRequest;
  share: CredentialShare;
  unshare: CredentialShare;
  revoke: Record<string, never>;
};

const wrong = (message: string): OpenwopError => new OpenwopError('validation_error', { message });

export const callerOwner = ({ tenant, workspace, actor }: Caller): Owner =>
  ownerOf({ tenant, workspace, principal: actor });

export class CredentialService {
  readonly #options: CredentialServiceOptions;

  constructor(options: CredentialServiceOptions) {
    this.#options = options;
  }

  /** Bodies of requests hold values. */
  digest = (text: string): string => this.#options.changes.digest(text);

  async create(caller: Caller, input: CreateCredentialRequest): Promise<Shown<Credential>> {
    return this.#options.changes.run(caller, async (change) => {
      const record = await this.#recordOf(caller, input);
      count(change, record, 1);
      const of = (id: string): CredentialRecord => {
        const first = this.#version({ tenant: caller.tenant, id }, 1, { ...input, kind: record.kind });
        return { ...record, versions: [{ ...first, version: 1, createdAt: change.now }] };
      };
      const { ref } = input;
      const made =
        ref === undefined ? change.createFor(credentials, of) : change.create(credentials, of(ref), ref);
      return shown(made, change.now);
    });
  }

  async get(caller: Caller, ref: string): Promise<Shown<Credential>> {
    const entry = await this.#options.store.entries.get({
      kind: credentials.kind,
      tenant: caller.tenant,
      id: ref,
    });
    if (!entry) throw new OpenwopError('credential_not_found');
    const stored = fromEntry(credentials, entry);
    if (!accessOf(callerOwner(caller), stored.record)) throw new OpenwopError('credential_forbidden');
    return this.#checked(stored);
  }

  /** Those that the caller may use, by ref, the highest first. */
  async page(
    caller: Caller,
    filter: EntryFilter,
  ): Promise<{ readonly shown: Shown<Credential>[]; readonly hasMore: boolean }> {
    const { store } = this.#options;
    const limit = filter.limit + 1;
    const lists = readersOf(callerOwner(caller)).map((value) =>
      store.entries.list(credentials.kind, caller.tenant, {
        ...filter,
        limit,
        index: { name: 'reader', value },
      }),
    );
    const found = new Map((await Promise.all(lists)).flat().map((entry) => [entry.id, entry]));
    const sorted = [...found.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
    const page = sorted.slice(0, filter.limit).map((entry) => this.#checked(fromEntry(credentials, entry)));
    return { shown: await Promise.all(page), hasMore: sorted.length > filter.limit };
  }

  async call<N extends keyof Verbs>(
    caller: Caller,
    verb: N,
    ref: string,
    input: Verbs[N],
    matching: { readonly version?: number } = {},
  ): Promise<Shown<Credential>> {
    return this.#options.changes.run(caller, async (change) => {
      const stored = await this.#managed(change, ref, matching);
      const verbs: { [V in keyof Verbs]: (given: Verbs[V]) => CredentialRecord } = {
        rotate: (given) => this.#rotated(stored, given, change.now),
        share: (given) => shared(stored.record, given),
        unshare: (given) => unshared(stored.record, given),
        revoke: () => ({ ...stored.record, revokedAt: stored.record.revokedAt ?? change.now }),
      };
      return shown(change.replace(stored, verbs[verb](input)), change.now);
    });
  }

  async remove(
    caller: Caller,
    ref: string,
    matching: { readonly version?: number } = {},
  ): Promise<Shown<Credential>> {
    return this.#options.changes.run(caller, async (change) => {
      const stored = await this.#managed(change, ref, matching);
      change.delete(stored);
      count(change, stored.record, -1);
      return shown(stored, change.now);
    });
  }

  /** Its value is looked for, so that whoever reads this learns of it before a run does. */
  async #checked(stored: StoredCredential): Promise<Shown<Credential>> {
    const { view, version } = shown(stored, this.#options.now());
    const isThere = async () =>
      (await storedValue(this.#options, { stored, version: newest(stored.record) })) !== null;
    return view.state !== 'active' || (await isThere())
      ? { view, version }
      : { view: { ...view, state: 'unreadable' }, version };
  }

  async #managed(
    change: Change,
    ref: string,
    { version }: { readonly version?: number },
  ): Promise<StoredCredential> {
    const stored = await change.get(credentials, ref);
    if (accessOf(callerOwner(change.caller), stored.record) !== 'manage')
      throw new OpenwopError('credential_forbidden');
    if (version !== undefined && version !== stored.version)
      throw new OpenwopError('conflict', {
        message: 'It has changed since. Read it again and repeat the change.',
        details: { currentVersion: stored.version },
      });
    return stored;
  }

  async #recordOf(
    caller: Caller,
    input: CreateCredentialRequest,
  ): Promise<Omit<CredentialRecord, 'versions'>> {
    const { kind = 'api_key', provider, scope = 'tenant', runId, audiences = [] } = input;
    const unclear = audiences.find((audience) => !isAudience(audience));
    if (unclear !== undefined)
      throw wrong(
        `${JSON.stringify(unclear)} is not an audience. Name a host in small letters, such as api.example.com, or *.example.com.`,
      );
    if ((scope === 'run') !== (runId !== undefined))
      throw wrong('A credential of the scope run, and no other, names its runId.');
    if (runId !== undefined) await this.#checkRun(caller.tenant, runId);
    const { workspace, principal } = callerOwner(caller);
    const { header = PLACES[kind].header, prefix = PLACES[kind].prefix } = input;
    return {
      kind,
      ...(provider !== undefined && { provider }),
      scope,
      owner: { workspace, principal },
      ...(runId !== undefined && { runId }),
      audiences: [...new Set(audiences)],
      header: header.toLowerCase(),
      prefix,
      sharedWith: [],
    };
  }

  async #checkRun(tenant: string, runId: string): Promise<void> {
    const { runs, entries } = this.#options.store;
    if (!(await runs.row(tenant, runId)))
      throw new OpenwopError('not_found', { message: 'There is no run with this runId.' });
    const index = { name: 'run', value: runId };
    if ((await entries.list(credentials.kind, tenant, { index, limit: perRunMax })).length === perRunMax)
      throw new OpenwopError('conflict', {
        message: `The run has ${perRunMax} credentials already, the limit.`,
        details: { limit: perRunMax },
      });
  }

  #rotated(stored: StoredCredential, input: RotateCredentialRequest, now: number): CredentialRecord {
    const { record } = stored;
    if (record.revokedAt !== undefined)
      throw new OpenwopError('conflict', {
        message: 'The credential was revoked. Remove it and add it again.',
      });
    const { overlapSeconds = overlapSecondsDefault } = input;
    const next = record.versions[0]!.version + 1;
    const added = this.#version(stored, next, { ...input, kind: record.kind });
    const rotated = withVersion(record, added, {
      now,
      overlapMs: overlapSeconds * 1_000,
    });
    if (rotated.versions.filter((each) => isLive(each, now)).length > versionsMax)
      throw new OpenwopError('conflict', {
        message: `${versionsMax} values are in use already, the limit. Wait until one ends, or use overlapSeconds 0.`,
        details: { limit: versionsMax },
      });
    return rotated;
  }

  #version(
    of: Pick<StoredCredential, 'tenant' | 'id'>,
    version: number,
    given: Pick<CreateCredentialRequest, 'value' | 'source' | 'expiresAt'> & { kind: CredentialKind },
  ): Omit<CredentialVersion, 'version' | 'createdAt'> {
    const { value, source, expiresAt, kind } = given;
    const ends = expiresAt === undefined ? {} : { expiresAt: Date.parse(expiresAt) };
    if (source && value === undefined) return { material: source, ...ends };
    if (value === undefined || source) throw wrong('Give either value or source.');
    if (Buffer.byteLength(value) > valueBytesMax)
      throw wrong(`The value has more than ${valueBytesMax} bytes.`);
    for (const part of secretParts(kind, value)) this.#options.redactions.note(of.tenant, part, of.id);
    const sealed = this.#options.masterKey.seal(value, contextOf(of, version));
    return { material: { sealed }, ...ends, ...(value.length < redactableMin && { isShort: true }) };
  }
}

const shown = (stored: StoredCredential, now: number): Shown<Credential> => ({
  view: viewOf(stored, now),
  version: stored.version,
});

/** Those of a run end with it, so they are counted by run. */
export function count(change: Change, { scope }: Pick<CredentialRecord, 'scope'>, delta: number): void {
  if (scope !== 'run') change.adjust(COUNT, delta, perTenantMax, full);
}

const full = (): OpenwopError =>
  new OpenwopError('conflict', {
    message: `There are ${perTenantMax} credentials already, the limit. Remove some first.`,
    details: { limit: perTenantMax },
  });

function shared(record: CredentialRecord, given: CredentialShare): CredentialRecord {
  const { sharedWith } = unshared(record, given);
  if (sharedWith.length >= sharesMax)
    throw new OpenwopError('conflict', {
      message: `It is shared ${sharesMax} times already, the limit. End some of it with unshare.`,
      details: { limit: sharesMax },
    });
  return { ...record, sharedWith: [...sharedWith, shareOf(given)] };
}

function unshared(record: CredentialRecord, given: CredentialShare): CredentialRecord {
  const { workspace, principal } = shareOf(given);
  const sharedWith = record.sharedWith.filter(
    (each) => each.workspace !== workspace || each.principal !== principal,
  );
  return { ...record, sharedWith };
}
