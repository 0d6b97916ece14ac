/** What callers may do with heartbeats. */
import type { Answer, Caller, RecordAnswer } from '@gantry/http';
import {
  type CreateHeartbeatRequest,
  HEARTBEAT_LIMITS,
  type HeartbeatTick,
  type Heartbeat as HeartbeatView,
  type JsonObject,
  newId,
  OpenwopError,
} from '@gantry/protocol';
import type { Store, Write } from '@gantry/store';
import type { Workflows } from '../runtime/runtime.ts';
import { commitAnswer } from '../schedules/commit-answer.ts';
import { admit } from '../workflows/admission.ts';
import { HEARTBEAT_TICK_KIND } from './evaluation.ts';
import {
  HEARTBEAT_KIND,
  type HeartbeatRecord,
  nextTickAt,
  putHeartbeat,
  readHeartbeat,
  type StoredHeartbeat,
  viewOf,
} from './heartbeat.ts';

const ATTEMPTS_MAX = 5;

export interface HeartbeatDeskOptions {
  readonly store: Pick<Store, 'commit' | 'entries'>;
  readonly workflows: Pick<Workflows, 'resolve'>;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  /** A heartbeat is due at that time, on disk. */
  readonly noted: (dueAt: number | null) => void;
}

export interface HeartbeatAddress {
  readonly tenant: string;
  readonly heartbeatId: string;
}

type Done = Promise<Answer | 'duplicate'>;

const busy = (): OpenwopError =>
  new OpenwopError('conflict', { message: 'The heartbeat kept changing meanwhile. Send the request again.' });

export class HeartbeatDesk {
  readonly #options: HeartbeatDeskOptions;

  constructor(options: HeartbeatDeskOptions) {
    this.#options = options;
  }

  async create(caller: Caller, body: CreateHeartbeatRequest, record: RecordAnswer | undefined): Done {
    const { store, now, randomBytes, noted } = this.#options;
    const { tenant } = caller;
    const at = now();
    const heartbeat = recordOf(caller, body, at);
    await this.#checkWorkflows(caller, heartbeat);
    if ((await store.entries.count(HEARTBEAT_KIND, tenant)) >= HEARTBEAT_LIMITS.perTenantMax) {
      throw new OpenwopError('conflict', {
        message: `There are ${HEARTBEAT_LIMITS.perTenantMax} heartbeats already, the limit. Delete some first.`,
        details: { limit: HEARTBEAT_LIMITS.perTenantMax },
      });
    }
    const stored = { tenant, id: newId('hb', at, randomBytes), version: null, createdAt: at };
    const write = putHeartbeat(stored, heartbeat);
    const answer = { status: 201, body: JSON.stringify(viewOf({ ...stored, record: heartbeat })) };
    const done = await commitAnswer(this.#options, [write], answer, record);
    if (done === 'stale') throw busy();
    noted(write.entry.dueAt);
    return done;
  }

  async list(tenant: string): Promise<HeartbeatView[]> {
    const filter = { limit: HEARTBEAT_LIMITS.perTenantMax };
    const listed = await this.#options.store.entries.list(HEARTBEAT_KIND, tenant, filter);
    return listed.map((entry) => viewOf(readHeartbeat(entry)));
  }

  async get(address: HeartbeatAddress): Promise<HeartbeatView> {
    return viewOf(await this.#find(address));
  }

  /** Newest first; each with the id that continues the list after it. */
  async ticks(
    address: HeartbeatAddress,
    limit: number,
    beforeId: string | undefined,
  ): Promise<{ id: string; tick: HeartbeatTick }[]> {
    const { tenant, id } = await this.#find(address);
    const filter = { ref: id, limit, ...(beforeId !== undefined && { beforeId }) };
    const listed = await this.#options.store.entries.list(HEARTBEAT_TICK_KIND, tenant, filter);
    return listed.map((entry) => ({ id: entry.id, tick: JSON.parse(entry.body) }));
  }

  async remove(address: HeartbeatAddress, record: RecordAnswer | undefined): Done {
    for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
      const stored = await this.#find(address);
      const { tenant, id, version } = stored;
      const key = { kind: HEARTBEAT_KIND, tenant, id };
      const write: Write = { kind: 'deleteEntry', key, expectedVersion: version };
      const answer = { status: 200, body: JSON.stringify(viewOf(stored)) };
      const done = await commitAnswer(this.#options, [write], answer, record);
      if (done !== 'stale') return done;
    }
    throw busy();
  }

  /** What no run can come of is better refused now than at the first tick. */
  async #checkWorkflows(caller: Caller, { workflowId, inputs, enqueue }: HeartbeatRecord): Promise<void> {
    const { workflows } = this.#options;
    const owner = { tenant: caller.tenant, principal: caller.keyId };
    const rest = { configurable: {}, tags: [], metadata: {} };
    await admit(workflows, owner, { workflowId, inputs, ...rest });
    if (enqueue) await admit(workflows, owner, { ...enqueue, ...rest });
  }

  async #find({ tenant, heartbeatId }: HeartbeatAddress): Promise<StoredHeartbeat> {
    const entry = await this.#options.store.entries.get({ kind: HEARTBEAT_KIND, tenant, id: heartbeatId });
    if (entry === null) throw new OpenwopError('not_found', { message: 'There is no such heartbeat.' });
    return readHeartbeat(entry);
  }
}

function recordOf({ keyId }: Caller, body: CreateHeartbeatRequest, now: number): HeartbeatRecord {
  const { workflowId, inputs = {}, intervalSec, maxRuntimeMs, enqueue } = body;
  const intervalMs = Math.max(intervalSec, HEARTBEAT_LIMITS.minIntervalSec) * 1_000;
  return {
    keyId,
    workflowId,
    intervalMs,
    seen: null,
    lastTick: null,
    inputs: inputs as JsonObject,
    maxRuntimeMs: maxRuntimeMs ?? HEARTBEAT_LIMITS.defaultRuntimeMs,
    enqueue: enqueue
      ? { workflowId: enqueue.workflowId, inputs: (enqueue.inputs ?? {}) as JsonObject }
      : null,
    state: { status: 'waiting', tickAt: nextTickAt(now, intervalMs, now) },
  };
}
