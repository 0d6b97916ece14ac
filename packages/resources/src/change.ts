/**
 * The interface of the function of a change: it reads records and collects writes. Nothing is written before
 * it has returned.
 */
import { type EmittedEvent, newId, OpenwopError } from '@gantry/protocol';
import {
  type Entry,
  type EntryKey,
  entryKey,
  type FeedNote,
  type LossReason,
  storedEntry,
  versionAfter,
  type Write,
} from '@gantry/store';
import type { Caller, Outcome } from './caller.ts';
import {
  counterOf,
  fromEntry,
  keyOf,
  missing,
  type RecordKind,
  type Stored,
  toEntry,
  workspaceOf,
} from './record-kind.ts';
import { beingRemoved, tombstoneId, tombstones } from './removals.ts';
import { type Sealer, sealSecrets } from './secret.ts';
import type { State } from './state.ts';

export interface Chance {
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  /** For kinds with secret fields. */
  readonly sealer?: Sealer;
}

/** A run that is ready to start. */
export interface StartingRun {
  readonly runId: string;
  /** The writes that create it. */
  readonly writes: readonly Write[];
  /** Called after the commit. */
  begun(): void;
}

export class Change {
  readonly caller: Caller;
  readonly now: number;
  readonly #state: State;
  readonly #randomBytes: Chance['randomBytes'];
  readonly #sealer: Sealer | undefined;
  readonly #writes: Write[] = [];
  readonly #events: EmittedEvent[] = [];
  readonly #runs: StartingRun[] = [];
  readonly #after: (() => Promise<void>)[] = [];
  /** The entries that this change has written so far. */
  readonly #own = new Map<string, Entry | null>();
  /** For writes that may lose for another reason than a race: the error for the caller. */
  readonly #refusals = new Map<Write, (reason: LossReason) => OpenwopError | null>();

  #repeat: Outcome | undefined;

  constructor(caller: Caller, state: State, { now, randomBytes, sealer }: Chance) {
    this.caller = caller;
    this.now = now();
    this.#state = state;
    this.#randomBytes = randomBytes;
    this.#sealer = sealer;
  }

  /** Null if the caller can see no such record. Its absence is a precondition too. */
  async find<R extends object>(kind: RecordKind<R>, id: string): Promise<Stored<R> | null> {
    const key = keyOf(kind, this.caller.tenant, id);
    const own = this.#own.get(entryKey(key));
    const entry = own === undefined ? await this.#state.get(key) : own;
    if (!entry || !this.#isVisible(kind, entry)) return null;
    return fromEntry(kind, entry);
  }

  async get<R extends object>(kind: RecordKind<R>, id: string): Promise<Stored<R>> {
    const found = await this.find(kind, id);
    if (!found) throw missing(kind);
    return found;
  }

  /** With an id chosen by the caller, or a generated one. */
  create<R extends object>(kind: RecordKind<R>, record: NoInfer<R>, chosenId?: string): Stored<R> {
    if (chosenId === undefined) return this.createFor(kind, () => record);
    if (kind.isParent) this.#expectRemoved(kind, chosenId);
    // A chosen id may be used again after a deletion; its versions must not repeat
    return this.#insert(kind, chosenId, record, { firstVersion: this.#growingVersion() });
  }

  /** For a record that contains something made for its id, such as a sealed secret. */
  createFor<R extends object>(kind: RecordKind<R>, recordOf: (id: string) => NoInfer<R>): Stored<R> {
    const id = newId(kind.idPrefix, this.now, this.#randomBytes);
    return this.#insert(kind, id, recordOf(id), {});
  }

  /** A repeat of this call gets `refusal`: its answer is shown once and is not recorded. */
  answerOnce(refusal: OpenwopError): void {
    this.#repeat = { refusal };
  }

  /** The given fields replace those of the record. */
  update<R extends object>(stored: Stored<R>, fields: Partial<R>): Stored<R> {
    return this.replace(stored, { ...stored.record, ...fields });
  }

  replace<R extends object>(stored: Stored<R>, record: R): Stored<R> {
    const updated = { at: this.now, by: this.caller.actor };
    return this.reseal({ ...stored, ...(stored.kind.isTracked && { updated }) }, record);
  }

  /** The same without a trace beside the record: only the seal of its secrets is new. */
  reseal<R extends object>(stored: Stored<R>, record: R): Stored<R> {
    const next = this.#sealed({ ...stored, record });
    return { ...next, version: versionAfter(this.#put(next, stored.version, {})) };
  }

  /** Replaces the record with this id, or creates it. */
  async put<R extends object>(kind: RecordKind<R>, record: NoInfer<R>, id: string): Promise<Stored<R>> {
    const before = await this.find(kind, id);
    return before ? this.replace(before, record) : this.create(kind, record, id);
  }

  /**
   * Replaces a record that was read outside of this change, or deletes it if `next` is null. Returns false,
   * and writes nothing, if it has changed since.
   */
  async settle<R extends object>(stored: Stored<R>, next: NoInfer<R> | null): Promise<boolean> {
    const { kind, id, version } = stored;
    if ((await this.find(kind, id))?.version !== version) return false;
    if (next === null) this.delete(stored);
    else this.replace(stored, next);
    return true;
  }

  delete<R extends object>(stored: Stored<R>): void {
    const { kind, tenant, id, version } = stored;
    const key = keyOf(kind, tenant, id);
    this.#count(stored, -1);
    this.#writes.push({ kind: 'deleteEntry', key, expectedVersion: version, ...this.#feed(kind) });
    this.#own.set(entryKey(key), null);
    if (!kind.isParent) return;
    const { actor } = this.caller;
    const record = { kind: kind.kind, id, actor, at: this.now };
    const at = { kind: tombstones, tenant, id: tombstoneId(kind, id), workspace: stored.workspace };
    this.#put({ ...at, createdAt: this.now, record }, null, {});
  }

  #expectRemoved<R extends object>(kind: RecordKind<R>, id: string): void {
    const key = keyOf(tombstones, this.caller.tenant, tombstoneId(kind, id));
    const write: Write = { kind: 'expectEntry', key, version: null };
    this.#writes.push(write);
    this.#refusals.set(write, () => beingRemoved(kind));
  }

  /** Adds to a counter; the change is refused if the counter would exceed `max`. */
  adjust(key: Omit<EntryKey, 'tenant'>, delta: number, max: number, refusal: () => OpenwopError): void {
    const write: Write = { kind: 'adjust', key: { ...key, tenant: this.caller.tenant }, delta, max };
    this.#writes.push(write);
    this.#refusals.set(write, (reason) => (reason === 'full' ? refusal() : null));
  }

  /**
   * Adds events to the run of the calling node, in the commit of the change. Does nothing for other callers,
   * which have no run.
   */
  tell(...events: readonly EmittedEvent[]): void {
    if (this.caller.kind === 'node') this.#events.push(...events);
  }

  /** Starts a run with this change: both are committed, or neither. */
  start(run: StartingRun): void {
    this.#writes.push(...run.writes);
    this.#runs.push(run);
  }

  /** Work after the commit, before the change is answered. It does not happen if the process dies between. */
  after(work: () => Promise<void>): void {
    this.#after.push(work);
  }

  /** Writes that belong to no record. */
  add(...writes: readonly Write[]): void {
    this.#writes.push(...writes);
  }

  /** The outcome to record for a change with this outcome. */
  recorded(outcome: Outcome): Outcome {
    return 'answer' in outcome ? (this.#repeat ?? outcome) : outcome;
  }

  get writes(): readonly Write[] {
    return this.#writes;
  }

  get events(): readonly EmittedEvent[] {
    return this.#events;
  }

  /** Called after the commit. */
  committed(): void {
    for (const run of this.#runs) run.begun();
  }

  /** Called before a committed change is answered. */
  async answering(): Promise<void> {
    await Promise.all(this.#after.map((work) => work()));
  }

  refusalOf(write: Write, reason: LossReason): OpenwopError | null {
    return this.#refusals.get(write)?.(reason) ?? null;
  }

  #isVisible<R extends object>({ boundary }: RecordKind<R>, entry: Entry): boolean {
    const { kind, workspace } = this.caller;
    return boundary !== 'workspace' || kind === 'system' || workspaceOf(entry) === workspace;
  }

  #insert<R extends object>(
    kind: RecordKind<R>,
    id: string,
    record: R,
    over: { readonly firstVersion?: number },
  ): Stored<R> {
    const { tenant, workspace } = this.caller;
    const common = { kind, tenant, id, workspace, createdAt: this.now };
    const stored = this.#sealed({ ...common, record });
    const isCounted = this.#count(stored, 1);
    const limit = kind.max === undefined || isCounted ? {} : { max: kind.max };
    return { ...stored, version: versionAfter(this.#put(stored, null, { ...over, ...limit })) };
  }

  #count<R extends object>(
    { kind, workspace, record }: Pick<Stored<R>, 'kind' | 'workspace' | 'record'>,
    delta: number,
  ): boolean {
    const counter = counterOf(kind, workspace, record);
    if (counter) this.adjust(counter, delta, kind.max!, () => putRefusal(kind, 'full')!);
    return counter !== null;
  }

  /** Replaces the text of secrets by sealed text. */
  #sealed<R extends object, S extends Omit<Stored<R>, 'version'>>(stored: S & Omit<Stored<R>, 'version'>): S {
    const record = sealSecrets(stored, this.#sealer);
    if (record === stored.record) return stored;
    return { ...stored, record };
  }

  #put<R extends object>(
    stored: Omit<Stored<R>, 'version'>,
    expectedVersion: number | null,
    over: { readonly firstVersion?: number; readonly max?: number },
  ) {
    const entry = toEntry(stored, this.now);
    const write = { kind: 'putEntry', entry, expectedVersion, ...over, ...this.#feed(stored.kind) } as const;
    this.#writes.push(write);
    this.#refusals.set(write, (reason) => putRefusal(stored.kind, reason));
    this.#own.set(entryKey(entry), storedEntry(entry, versionAfter(write)));
    return write;
  }

  #feed<R extends object>(kind: RecordKind<R>): { readonly feed?: FeedNote } {
    return kind.feed ? { feed: { actor: this.caller.actor, at: this.now } } : {};
  }

  /** The time in microseconds; the last three digits are random. */
  #growingVersion(): number {
    const [high = 0, low = 0] = this.#randomBytes(2);
    return this.now * 1_000 + ((high * 256 + low) % 1_000);
  }
}

function putRefusal(
  { kind, max, unique = [] }: Pick<RecordKind<object>, 'kind' | 'max' | 'unique'>,
  reason: LossReason,
): OpenwopError | null {
  if (reason === 'stale') return null;
  const message =
    reason === 'full'
      ? `There are ${max} records of kind ${kind} already, the limit. Delete some first.`
      : `A ${kind} with this ${['id', ...unique].join(' or ')} exists already.`;
  return new OpenwopError('conflict', {
    message,
    ...(reason === 'full' && { details: { limit: max ?? 0 } }),
  });
}
