/** What callers may do with schedules. */
import type { Answer, Caller, RecordAnswer } from '@gantry/http';
import {
  type CreateScheduleRequest,
  newId,
  OpenwopError,
  SCHEDULE_LIMITS,
  type Schedule as ScheduleView,
} from '@gantry/protocol';
import type { Store, Write } from '@gantry/store';
import type { Workflows } from '../runtime/runtime.ts';
import { admit } from '../workflows/admission.ts';
import { commitAnswer } from './commit-answer.ts';
import {
  checkCron,
  firstTick,
  putSchedule,
  readSchedule,
  SCHEDULE_KIND,
  type ScheduleRecord,
  type StoredSchedule,
  stateAt,
  viewOf,
} from './schedule.ts';
import { instant, requestOf, timingOf } from './schedule-request.ts';
import { nextTick, ticksAfter } from './ticks.ts';

/** Someone else may change a schedule between reading and writing it; in a row that is rare. */
const ATTEMPTS_MAX = 5;

export interface ScheduleDeskOptions {
  readonly store: Pick<Store, 'commit' | 'entries'>;
  readonly workflows: Pick<Workflows, 'resolve'>;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  /** A schedule is due at that time, on disk. */
  readonly noted: (dueAt: number | null) => void;
}

export interface ScheduleAddress {
  readonly tenant: string;
  readonly scheduleId: string;
}

type Done = Promise<Answer | 'duplicate'>;

export class ScheduleDesk {
  readonly #options: ScheduleDeskOptions;

  constructor(options: ScheduleDeskOptions) {
    this.#options = options;
  }

  async create(caller: Caller, body: CreateScheduleRequest, record: RecordAnswer | undefined): Done {
    const { store, workflows, now, randomBytes } = this.#options;
    const { tenant, keyId } = caller;
    const at = now();
    const timing = timingOf(body, at);
    const endAt = body.endAt === undefined ? null : instant(body.endAt, 'endAt');
    const state = stateAt(firstTick(timing, endAt, at));
    const request = requestOf(body);
    // What no run can come of is better refused now than at three in the morning.
    await admit(workflows, { tenant, principal: keyId }, request);
    if ((await store.entries.count(SCHEDULE_KIND, tenant)) >= SCHEDULE_LIMITS.perTenantMax) {
      throw new OpenwopError('conflict', {
        message: `There are ${SCHEDULE_LIMITS.perTenantMax} schedules already, the limit. Delete some first.`,
        details: { limit: SCHEDULE_LIMITS.perTenantMax },
      });
    }
    const schedule: ScheduleRecord = {
      timing,
      endAt,
      state,
      request,
      lastFire: null,
      lastError: null,
      missedTicks: body.missedTicks ?? 'fire-once',
      source: { kind: 'api', keyId },
    };
    const stored = { tenant, id: newId('sch', at, randomBytes), version: null, createdAt: at };
    const done = await this.#put(stored, schedule, 201, record);
    if (done === 'stale') throw busy();
    return done;
  }

  async list(tenant: string, limit: number, beforeId: string | undefined): Promise<ScheduleView[]> {
    const { entries } = this.#options.store;
    const filter = { limit, ...(beforeId !== undefined && { beforeId }) };
    const listed = await entries.list(SCHEDULE_KIND, tenant, filter);
    return Promise.all(listed.map((entry) => this.#view(readSchedule(entry))));
  }

  async get(address: ScheduleAddress): Promise<ScheduleView> {
    return this.#view(await this.#find(address));
  }

  async next(address: ScheduleAddress, count: number): Promise<string[]> {
    const { record } = await this.#find(address);
    if (record.state.status !== 'active') return [];
    const after = Math.max(this.#options.now(), record.state.nextAt - 1);
    return isoTimes(ticksAfter(record.timing, record.endAt, after, count));
  }

  preview(cron: string, timezone: string, count: number): string[] {
    checkCron(cron, timezone);
    return isoTimes(ticksAfter({ kind: 'cron', cron, timezone }, null, this.#options.now(), count));
  }

  pause(address: ScheduleAddress, record: RecordAnswer | undefined): Done {
    return this.#change(address, record, ({ state }) => {
      if (state.status === 'ended') throw conflict('The schedule has ended.');
      return { status: 'paused' };
    });
  }

  /** Ticks that passed meanwhile stay passed: a pause is no outage. */
  resume(address: ScheduleAddress, record: RecordAnswer | undefined): Done {
    return this.#change(address, record, ({ state, timing, endAt }) => {
      if (state.status === 'ended') throw conflict('The schedule has ended.');
      return state.status === 'active' ? state : stateAt(nextTick(timing, endAt, this.#options.now()));
    });
  }

  async remove(address: ScheduleAddress, record: RecordAnswer | undefined): Done {
    for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
      const stored = await this.#find(address);
      const { source } = stored.record;
      if (source.kind === 'trigger') {
        throw conflict(
          `It belongs to trigger ${source.triggerId} of its workflow. Pause it, or disable the trigger.`,
        );
      }
      const { tenant, id, version } = stored;
      const write: Write = {
        kind: 'deleteEntry',
        key: { kind: SCHEDULE_KIND, tenant, id },
        expectedVersion: version,
      };
      const answer = { status: 200, body: JSON.stringify(await this.#view(stored)) };
      const done = await commitAnswer(this.#options, [write], answer, record);
      if (done !== 'stale') return done;
    }
    throw busy();
  }

  async #change(
    address: ScheduleAddress,
    record: RecordAnswer | undefined,
    change: (schedule: ScheduleRecord) => ScheduleRecord['state'],
  ): Done {
    for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
      const stored = await this.#find(address);
      const done = await this.#put(stored, { ...stored.record, state: change(stored.record) }, 200, record);
      if (done !== 'stale') return done;
    }
    throw busy();
  }

  async #put(
    stored: Parameters<typeof putSchedule>[0],
    schedule: ScheduleRecord,
    status: number,
    record: RecordAnswer | undefined,
  ) {
    const write = putSchedule(stored, schedule, this.#options.now());
    const body = JSON.stringify(await this.#view({ ...stored, record: schedule }));
    const done = await commitAnswer(this.#options, [write], { status, body }, record);
    this.#options.noted(write.entry.dueAt);
    return done;
  }

  async #find({ tenant, scheduleId }: ScheduleAddress): Promise<StoredSchedule> {
    const entry = await this.#options.store.entries.get({ kind: SCHEDULE_KIND, tenant, id: scheduleId });
    if (entry === null) throw new OpenwopError('not_found', { message: 'There is no such schedule.' });
    return readSchedule(entry);
  }

  async #view(stored: Parameters<typeof viewOf>[0] & { readonly tenant: string }): Promise<ScheduleView> {
    const workflow = await this.#options.workflows.resolve(stored.tenant, stored.record.request.workflowId);
    return viewOf(stored, workflow);
  }
}

const isoTimes = (times: readonly number[]): string[] => times.map((at) => new Date(at).toISOString());

const conflict = (message: string): OpenwopError => new OpenwopError('conflict', { message });

const busy = (): OpenwopError => conflict('The schedule kept changing meanwhile. Send the request again.');
