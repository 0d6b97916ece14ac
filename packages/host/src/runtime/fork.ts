/** A new run made from the log of another, as a replay or a branch, and committed as a whole. */
import {
  branchRun,
  inheritedTrust,
  type Plan,
  type ReplayOptions,
  type Run,
  type RunFacts,
  recordConflict,
  redactEvent,
  redactFacts,
  repairPoint,
  replaySlices,
  rootRunId,
  withNewVariables,
} from '@gantry/engine';
import { limiter } from '@gantry/limiter';
import { type ForkMode, fromStored, type JsonObject, OpenwopError, type RunEvent } from '@gantry/protocol';
import type { RunKey, Store } from '@gantry/store';
import { redactingPlans } from '../redaction/redacting-plan.ts';
import type { Redactions } from '../redaction/redactions.ts';
import { advanceReady } from './advance.ts';
import { type Clock, type RuntimeInputs, systemClock } from './clock.ts';
import { startRun } from './opened-run.ts';
import { RETRY_AFTER_SECONDS, unavailable } from './run-errors.ts';
import { nextRunId } from './run-id.ts';
import type { PreparedRun, ReadRun } from './runtime.ts';

/** A fork is made in memory and is one commit, so the length of its log is limited. */
const EVENTS_MAX = 100_000;
const BYTES_MAX = 64_000_000;
const PAGE = 500;
/** Events read after the fork point of a branch, to finish a step that it cuts. */
const CUT_EVENTS_MAX = 2_000;
const AT_ONCE_MAX = 4;

export interface ForkOptions extends RuntimeInputs {
  readonly redactions: Redactions;
  readonly runs: Pick<Store['runs'], 'events'>;
}

export interface ForkRequest {
  readonly mode: ForkMode;
  readonly fromSeq: number;
  /** Facts of the new run that are not its source's. Its owner is the caller: see decision 4. */
  readonly changes: Pick<RunFacts, 'owner'> &
    Partial<Pick<RunFacts, 'configurable' | 'tags' | 'metadata' | 'traceparent'>>;
}

export type PrepareFork = (source: ReadRun, request: ForkRequest) => Promise<PreparedRun>;

/** A definition that the new run is pinned to instead of its source's. */
export interface Onto {
  readonly plan: Plan;
  readonly hash: string;
}

export interface Forks {
  prepare: PrepareFork;
  /** Branches before the last visit of the failed node, under another definition. A conflicting log is refused. */
  repair(source: ReadRun, onto: Onto, changes: ForkRequest['changes']): Promise<PreparedRun>;
}

export function createForks(options: ForkOptions): Forks {
  const forks = limiter({ max: AT_ONCE_MAX });
  const inTurn = async ({ run }: ReadRun, work: () => Promise<PreparedRun>): Promise<PreparedRun> => {
    const release = forks.tryAcquire(run.facts.owner.tenant);
    if (!release) throw busy();
    return work().finally(release);
  };
  return {
    prepare: (source, request) => inTurn(source, () => prepare(options, source, request)),
    repair: (source, onto, changes) => inTurn(source, () => repair(options, source, onto, changes)),
  };
}

async function repair(
  options: ForkOptions,
  source: ReadRun,
  onto: Onto,
  changes: ForkRequest['changes'],
): Promise<PreparedRun> {
  const { facts, failedNodeId, nextSeq } = source.run;
  const { runId, owner } = facts;
  const point = { sourceRunId: runId, fromSeq: nextSeq };
  const events = await readEvents(
    options.runs,
    { tenant: owner.tenant, runId },
    Math.min(nextSeq, EVENTS_MAX + 1),
  );
  if (!events) throw tooLong(point);
  const fromSeq = failedNodeId === undefined ? undefined : repairPoint(events, failedNodeId);
  if (fromSeq === undefined)
    throw new OpenwopError('conflict', {
      message: 'No node of this run has failed, so it cannot be repaired. Run it again instead.',
    });
  const conflict = recordConflict(source.plan, onto.plan, events.slice(0, fromSeq));
  if (conflict !== undefined)
    throw new OpenwopError('conflict', {
      message: `The run cannot continue with the current definition: ${conflict}. Run it again from the start instead.`,
      details: { ...point, fromSeq },
    });
  const moved: ReadRun = {
    ...source,
    plan: onto.plan,
    run: { ...source.run, facts: { ...facts, workflowHash: onto.hash } },
  };
  const asBegun = (record: RunEvent[]) => withNewVariables(source.plan, onto.plan, record);
  return prepare(options, moved, { mode: 'branch', fromSeq, changes }, asBegun);
}

async function prepare(
  { runs, now, randomBytes, clock = systemClock, redactions }: ForkOptions,
  { run: source, plan }: ReadRun,
  request: ForkRequest,
  asBegun = (record: RunEvent[]) => record,
): Promise<PreparedRun> {
  const { mode, fromSeq } = request;
  const point: JsonObject = { sourceRunId: source.facts.runId, fromSeq };
  if (fromSeq > source.nextSeq)
    throw new OpenwopError('fork_point_invalid', { details: { ...point, maxFromSeq: source.nextSeq } });
  await redactions.ready(source.facts.owner.tenant);
  const createdAt = now();
  const given = forkFacts(source, request, nextRunId(now, randomBytes), createdAt);
  const redacting = redactingPlans(redactions);
  if (mode === 'branch' && fromSeq === 0) return startRun({ clock, redacting }, plan, given);
  const used = redacting(plan, source.facts.owner.tenant);
  const facts = redactFacts(given, used.redact);
  const wanted = mode === 'replay' ? source.nextSeq : Math.min(source.nextSeq, fromSeq + CUT_EVENTS_MAX);
  const key = { tenant: source.facts.owner.tenant, runId: source.facts.runId };
  const stored = wanted > EVENTS_MAX ? null : await readEvents(runs, key, wanted);
  if (!stored) throw tooLong(point);
  // Secrets may have become known after the log was written.
  const events = asBegun(stored).map((event) => redactEvent(event, used.redact));
  const options = { plan: used, facts, source: { facts: source.facts, events }, eventsMax: EVENTS_MAX };
  if (mode === 'branch') return { plan, ...advanceReady(clock, used, copied(branchRun(options)), createdAt) };
  return { plan, ...(await replayed(clock, options, point)) };
}

const copied = <T extends { events: readonly RunEvent[] }>(fork: T) => ({
  ...fork,
  events: [...fork.events],
});

/** A long replay yields to other requests between its slices. */
async function replayed(
  clock: Clock,
  options: ReplayOptions,
  point: JsonObject,
): Promise<Omit<PreparedRun, 'plan'>> {
  const slices = replaySlices(options);
  for (let slice = slices.next(); ; slice = slices.next()) {
    if (!slice.done) {
      await new Promise<void>(clock.soon);
      continue;
    }
    const { events, run } = slice.value;
    if (events.length >= EVENTS_MAX) throw tooLong(point);
    return { events, run };
  }
}

/** The first `count` events; null when they are more than a fork may hold. */
async function readEvents(
  runs: ForkOptions['runs'],
  { tenant, runId }: RunKey,
  count: number,
): Promise<RunEvent[] | null> {
  const events: RunEvent[] = [];
  let bytes = 0;
  while (events.length < count) {
    const page = await runs.events(tenant, runId, events.length, Math.min(PAGE, count - events.length));
    if (page.length === 0) throw new OpenwopError('not_found');
    for (const event of page) {
      bytes += event.payload.length + (event.sealed?.length ?? 0);
      events.push(fromStored(event));
    }
    if (bytes > BYTES_MAX) return null;
  }
  return events;
}

/** The fork of a child has no parent: its end is not reported. */
function forkFacts(
  source: Run,
  { mode, fromSeq, changes }: ForkRequest,
  runId: string,
  createdAt: number,
): RunFacts & Pick<ReplayOptions['facts'], 'fork'> {
  const { parent: _parent, causationId: _cause, delivery: _delivery, ...facts } = source.facts;
  return {
    ...facts,
    ...inheritedTrust(source),
    ...changes,
    runId,
    rootRunId: rootRunId(source.facts),
    createdAt,
    fork: { sourceRunId: facts.runId, fromSeq, mode },
  };
}

const tooLong = (point: JsonObject): OpenwopError =>
  new OpenwopError('fork_point_invalid', {
    message: `The event log is too long to be forked: a fork holds at most ${EVENTS_MAX} events and ${BYTES_MAX} bytes.`,
    details: { ...point, maxFromSeq: EVENTS_MAX, maxBytes: BYTES_MAX },
  });

const busy = (): OpenwopError =>
  unavailable(`This host is making ${AT_ONCE_MAX} forks, its limit. Try again in ${RETRY_AFTER_SECONDS} s.`);
