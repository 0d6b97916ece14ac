/**
 * Channel-write triggers: runs started by what other runs write to a channel.
 *
 * I1  A commit with writes to channels leaves a note in itself; who works on the note finds out what it fires and
 *     removes it in the commit that holds the firings. So no write is lost, and none fires twice.
 * I2  A firing ends in the commit of the run it starts, or of its dead letter.
 * I3  Whether a workflow has such triggers follows from its hash. Once known, commits of others leave no note.
 */
import { hash } from 'node:crypto';
import { channelTriggers, isFromTrigger, newRun, type RunFacts, triggersFiredBy } from '@gantry/engine';
import { fromStored, type JsonObject, newId, type Owner, type StoredEvent } from '@gantry/protocol';
import type { Entry, EntryKey, Store, Write } from '@gantry/store';
import { fromStoredFacts } from '../runtime/run-record.ts';
import type { WorkflowsWithPlans } from '../workflows/workflows.ts';

export const CHANNEL_NOTE = 'channel-note';
export const CHANNEL_FIRING = 'channel-firing';
const KNOWN_MAX = 5_000;
/** After this long a commit has happened or never will. */
const FORGET_AFTER_MS = 60_000;

export interface ChannelWritesOptions {
  readonly store: Pick<Store, 'commit' | 'entries' | 'runs'>;
  readonly workflows: Pick<WorkflowsWithPlans, 'planOf'>;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** The run to start, as the body of a firing. */
export interface ChannelFiring {
  readonly workflowId: string;
  readonly owner: Owner;
  readonly triggerId: string;
  readonly eventId: string;
  readonly data: JsonObject;
  readonly attempts: number;
}

interface Note {
  readonly fromSeq: number;
  readonly count: number;
}

export class ChannelWrites {
  readonly #options: ChannelWritesOptions;
  /** I3. Whether the workflow of that hash has such triggers. */
  readonly #known = new Map<string, boolean>();
  /** Notes that were written and not yet worked on, with their time. */
  readonly #unseen = new Map<string, number>();

  constructor(options: ChannelWritesOptions) {
    this.#options = options;
  }

  /** I1. A replay fires nothing, nor does the past of a fork. */
  writes(facts: RunFacts, events: readonly StoredEvent[]): Write[] {
    const { fork, parent, workflowHash, owner, runId } = facts;
    if (parent || isFromTrigger(facts) || fork?.mode === 'replay') return [];
    if (this.#known.get(workflowHash) === false) return [];
    const written = events.filter(
      ({ type, sequence }) => type === 'channel.written' && sequence >= (fork?.fromSeq ?? 0),
    );
    const [first] = written;
    if (!first) return [];
    const { now, randomBytes } = this.#options;
    const at = now();
    const id = newId('cwn', at, randomBytes);
    const note: Note = { fromSeq: first.sequence, count: written.at(-1)!.sequence - first.sequence + 1 };
    this.#unseen.set(id, at);
    const key = { kind: CHANNEL_NOTE, tenant: owner.tenant, id };
    const times = { dueAt: at, expiresAt: null, createdAt: at };
    return [
      {
        kind: 'putEntry',
        entry: { ...key, ref: runId, ...times, body: JSON.stringify(note) },
        expectedVersion: null,
      },
    ];
  }

  /** Whether a note may be on disk that nobody has worked on. */
  isWaiting(): boolean {
    const before = this.#options.now() - FORGET_AFTER_MS;
    for (const [id, at] of this.#unseen) if (at <= before) this.#unseen.delete(id);
    return this.#unseen.size > 0;
  }

  /** Answers when the earliest of its firings is due. */
  async work(entry: Entry): Promise<number | null> {
    this.#unseen.delete(entry.id);
    const firings = await this.#firings(entry);
    const { kind, tenant, id, version } = entry;
    const done: Write = { kind: 'deleteEntry', key: { kind, tenant, id }, expectedVersion: version };
    const [result] = await this.#options.store.commit([[done, ...firings]]);
    if (!result?.won || firings.length === 0) return null;
    return Math.min(...firings.map(({ entry: { dueAt } }) => dueAt ?? 0));
  }

  async #firings({ tenant, ref, body }: Entry): Promise<PutEntry[]> {
    const { store, workflows } = this.#options;
    const row = ref === null ? null : await store.runs.row(tenant, ref);
    if (!row) return [];
    const plan = await workflows.planOf(row.workflowHash);
    this.#remember(row.workflowHash, channelTriggers(plan).length > 0);
    const { fromSeq, count }: Note = JSON.parse(body);
    const events = (await store.runs.events(tenant, row.runId, fromSeq, count)).map(fromStored);
    const facts = fromStoredFacts(row);
    const run = { ...newRun(facts), nextSeq: fromSeq + events.length };
    const fired = triggersFiredBy(plan, { run, events });
    return Promise.all(
      fired.map(({ trigger: { triggerId, debounceMs }, eventId, dueAt, data }) => {
        const { workflowId, owner, runId } = facts;
        // With a debounce, all writes of a run share one firing, which the latest of them puts off.
        const burst = debounceMs > 0 ? runId : eventId;
        const firing = { workflowId, owner, triggerId, eventId, data, attempts: 0 };
        return this.#put(firingKey(tenant, burst, triggerId), firing, dueAt);
      }),
    );
  }

  async #put(key: EntryKey, firing: ChannelFiring, dueAt: number): Promise<PutEntry> {
    const before = await this.#options.store.entries.get(key);
    return firingWrite(key, firing, dueAt, before);
  }

  #remember(workflowHash: string, fires: boolean): void {
    this.#known.set(workflowHash, fires);
    if (this.#known.size > KNOWN_MAX) this.#known.delete(this.#known.keys().next().value!);
  }
}

type PutEntry = Extract<Write, { kind: 'putEntry' }>;

const firingKey = (tenant: string, burst: string, triggerId: string): EntryKey => ({
  kind: CHANNEL_FIRING,
  tenant,
  id: `chf_${hash('sha256', `${burst}\0${triggerId}`, 'hex').slice(0, 40)}`,
});

export const firingWrite = (
  { kind, tenant, id }: EntryKey,
  firing: ChannelFiring,
  dueAt: number,
  before: Pick<Entry, 'version' | 'createdAt'> | null,
): PutEntry => ({
  kind: 'putEntry',
  entry: {
    kind,
    tenant,
    id,
    ref: firing.workflowId,
    dueAt,
    expiresAt: null,
    createdAt: before?.createdAt ?? dueAt,
    body: JSON.stringify(firing),
  },
  expectedVersion: before?.version ?? null,
});
