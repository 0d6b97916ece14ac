/**
 * Channel-write triggers: runs started by what other runs write to a channel.
 *
 * I1  A commit with writes to channels leaves a note in itself; what the note fires is found out later, and it is
 *     deleted in the commit that holds the firings. So no write is lost, and none fires twice.
 * I2  A firing ends in the commit of the run it starts, or of its dead letter.
 * I3  Whether a workflow has such triggers follows from its hash. Once known, commits of others leave no note.
 */
import { hash } from 'node:crypto';
import {
  channelTriggers,
  inheritedTrust,
  isFromTrigger,
  newRun,
  type RunFacts,
  triggersFiredBy,
} from '@gantry/engine';
import { fromStored, type JsonObject, newId, type RunOwner, type StoredEvent } from '@gantry/protocol';
import { creation, type RecordKind, type Stored } from '@gantry/resources';
import type { Store, Write } from '@gantry/store';
import type { Parts } from '../parts.ts';
import { fromStoredFacts } from '../runtime/run-record.ts';
import type { WorkflowsWithPlans } from '../workflows/workflows.ts';
import { TRIGGERS } from './dispatch.ts';

const KNOWN_MAX = 5_000;

export interface ChannelWritesOptions extends Pick<Parts, 'changes' | 'now' | 'randomBytes'> {
  readonly store: Pick<Store, 'runs'>;
  readonly workflows: Pick<WorkflowsWithPlans, 'planOf'>;
}

/** The run to start. */
export interface ChannelFiring {
  readonly workflowId: string;
  readonly owner: RunOwner;
  readonly triggerId: string;
  readonly eventId: string;
  readonly data: JsonObject;
  readonly contentTrust?: 'untrusted';
  readonly attempts: number;
  readonly dueAt: number;
}

/** Which events of a run were written together. */
interface Note {
  readonly runId: string;
  readonly fromSeq: number;
  readonly count: number;
  readonly dueAt: number;
}

export const channelNotes: RecordKind<Note> = {
  kind: 'channel-note',
  idPrefix: 'cwn',
  dueAt: ({ dueAt }) => dueAt,
};

export const channelFirings: RecordKind<ChannelFiring> = {
  kind: 'channel-firing',
  idPrefix: 'chf',
  dueAt: ({ dueAt }) => dueAt,
};

export class ChannelWrites {
  readonly #options: ChannelWritesOptions;
  /** I3. Whether the workflow of that hash has such triggers. */
  readonly #known = new Map<string, boolean>();

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
    const count = written.at(-1)!.sequence - first.sequence + 1;
    const of = { tenant: owner.tenant, id: newId(channelNotes.idPrefix, at, randomBytes) };
    return [creation(channelNotes, of, { runId, fromSeq: first.sequence, count, dueAt: at }, at)];
  }

  /** With a debounce, all writes of a run share one firing, which the latest of them puts off. */
  async work(note: Stored<Note>): Promise<void> {
    const firings = await this.#firings(note.tenant, note.record);
    await this.#options.changes.settle(TRIGGERS, note, null, async (change) => {
      for (const [id, firing] of firings) await change.put(channelFirings, firing, id);
    });
  }

  async #firings(tenant: string, { runId, fromSeq, count }: Note): Promise<[string, ChannelFiring][]> {
    const { store, workflows } = this.#options;
    const row = await store.runs.row(tenant, runId);
    if (!row) return [];
    const plan = await workflows.planOf(row.workflowHash);
    this.#remember(row.workflowHash, channelTriggers(plan).length > 0);
    const events = (await store.runs.events(tenant, runId, fromSeq, count)).map(fromStored);
    const facts = fromStoredFacts(row);
    const run = { ...newRun(facts), nextSeq: fromSeq + events.length };
    const { workflowId, owner } = facts;
    return triggersFiredBy(plan, { run, events }).map((fired) => {
      const { trigger, eventId, dueAt, data } = fired;
      const { triggerId, debounceMs } = trigger;
      const burst = debounceMs > 0 ? runId : eventId;
      const id = `chf_${hash('sha256', `${burst}\0${triggerId}`, 'hex').slice(0, 40)}`;
      const about = { workflowId, owner, triggerId, eventId, data, ...inheritedTrust(fired) };
      return [id, { ...about, attempts: 0, dueAt }];
    });
  }

  #remember(workflowHash: string, fires: boolean): void {
    this.#known.set(workflowHash, fires);
    if (this.#known.size > KNOWN_MAX) this.#known.delete(this.#known.keys().next().value!);
  }
}
