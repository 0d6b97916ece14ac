/**
 * Replays a run from the log of another.
 *
 * I1 Makes no external calls: nodes in the process are decided again, everything else comes from the record.
 * I2 While the run matches its source, the source's log determines the order; each event is still decided, then
 *    compared.
 * I3 From the first difference on, records are found only by the execution of their node.
 */
import { ERRORS, eventId, isTerminal, type JsonObject, type RunEvent } from '@gantry/protocol';
import { fold } from '../apply.ts';
import { type Decision, decide } from '../decide.ts';
import { completeNode, failNode, runNode } from '../node-run.ts';
import type { Plan, PlanNode } from '../plan.ts';
import { isReady } from '../queries.ts';
import { type ForkLink, isActive, type NodeState, newRun, type Run, type RunFacts } from '../run.ts';
import { emit, openStep, type Step } from '../step.ts';
import { cutEnding } from './cut.ts';
import { copyOf, nextRecorded, relive } from './moves.ts';
import { type ForkIds, rebase, sameEvent } from './rebase.ts';
import { Executions, isWellFormed, type Recorded, type Recording, recordingOf } from './recording.ts';

/** The number of events decided at once. If that exceeds the source's own step, it is cut where the two differ. */
const ADVANCE_EVENTS_MAX = 64;

export interface ReplaySource {
  readonly facts: RunFacts;
  readonly events: readonly RunEvent[];
}

export interface ReplayOptions {
  readonly plan: Plan;
  /** Facts of the new run, with its `fork`. */
  readonly facts: RunFacts & { readonly fork: ForkLink };
  readonly source: ReplaySource;
  /** The replay stops once the log has this many events. */
  readonly eventsMax: number;
}

/** One way to continue. Pure, so that it can be tried. */
type Attempt = (run: Run) => Decision;

/** Events that a replay skips. */
const PASSED_OVER = new Set(['run.paused', 'run.resumed', 'replay.diverged', 'replay.divergedAtRefusal']);

export class Replay {
  readonly events: RunEvent[] = [];
  /** Sequence of the source's first event that differs. */
  divergedAt: number | undefined;
  readonly #options: ReplayOptions;
  readonly #plan: Plan;
  readonly #source: readonly RunEvent[];
  readonly #recording: Recording;
  readonly #ids: ForkIds;
  readonly #executions = new Executions();
  readonly #places: (number | undefined)[] = [];
  #run: Run;
  #sourceRun: Run | undefined;
  /** The position in the source's log. */
  #position: number;
  #unbound = 0;
  #now: number;

  constructor(options: ReplayOptions) {
    const { facts, source, plan } = options;
    const { fromSeq, sourceRunId, mode } = facts.fork;
    this.#options = options;
    this.#plan = timelessPlan(plan);
    this.#source = source.events;
    this.#recording = recordingOf(source.events);
    this.#ids = { sourceRunId, runId: facts.runId, mode };
    this.#now = facts.createdAt;
    this.#position = fromSeq;
    const prefix = source.events.slice(0, fromSeq).map((event) => rebase(event, this.#ids));
    prefix.forEach((_, sequence) => {
      this.#places[sequence] = sequence;
    });
    this.#run = fold(newRun(timelessFacts(facts, source.facts)), prefix);
    this.#note(prefix);
  }

  get run(): Run {
    return { ...this.#run, facts: this.#options.facts };
  }

  /** Performs one step. False when nothing is left to do. */
  step(): boolean {
    if (isTerminal(this.#run.status) || this.#run.nextSeq >= this.#options.eventsMax) return false;
    if (this.divergedAt !== undefined) return this.#goOn();
    this.#passPauses();
    const original = this.#source[this.#position];
    return original ? this.#follow(original) : this.#goOn();
  }

  /** A replay skips pauses; only a run that was forked while paused must be resumed. */
  #passPauses(): void {
    for (let event = this.#source[this.#position]; event; event = this.#source[this.#position]) {
      if (!PASSED_OVER.has(event.type) || (event.type === 'run.resumed' && this.#run.status === 'paused'))
        return;
      this.#position++;
    }
  }

  /** I2. */
  #follow(original: RunEvent): boolean {
    let nearest: { attempt: Attempt; events: readonly RunEvent[]; matched: number } | undefined;
    for (const attempt of this.#attempts(original)) {
      const decision = attempt(this.#run);
      if (decision.events.length === 0) continue;
      const matched = this.#matched(decision.events, false);
      if (matched === decision.events.length) return this.#accept(decision, this.#position);
      if (!nearest || matched > nearest.matched) nearest = { attempt, events: decision.events, matched };
    }
    if (this.finishEnding()) return true;
    this.#diverge(nearest?.matched ?? 0, nearest?.events);
    return nearest ? this.#accept(nearest.attempt(this.#run)) : true;
  }

  *#attempts(original: RunEvent): Generator<Attempt> {
    const now = isWellFormed(original) ? original.at : this.#now;
    if (this.#run.status === 'pending') yield (run) => decide(this.#plan, run, { type: 'start', now });
    if (isReady(this.#plan, this.#run)) yield this.#advanceAlong(now);
    const recorded = this.#nextRecorded();
    if (recorded) yield this.#reliving(recorded, recorded.event.at);
  }

  /** Advances as far as the source did before another input, or a later time. */
  #advanceAlong(now: number): Attempt {
    const advance = (run: Run, maxEvents: number): Decision =>
      decide(this.#plan, run, { type: 'advance', now, maxEvents });
    const advanced = advance(this.#run, ADVANCE_EVENTS_MAX);
    const matched = this.#matched(advanced.events, true);
    const maxEvents = matched > 0 && matched < advanced.events.length ? matched : ADVANCE_EVENTS_MAX;
    return (run) => advance(run, maxEvents);
  }

  /**
   * The number of leading events that match the next events of the source. If a source that has not ended runs
   * out of events, the rest matches.
   */
  #matched(events: readonly RunEvent[], atTheSameTime: boolean): number {
    const found = events.findIndex((event, index) => {
      const original = this.#source[this.#position + index];
      if (!original) return this.#recording.end !== undefined;
      if (atTheSameTime && event.at !== original.at) return true;
      return !sameEvent(event, original, this.#ids);
    });
    return found === -1 ? events.length : found;
  }

  /** If the fork cut the source's final step in two, its second half follows from the first. */
  finishEnding(): boolean {
    const rest = cutEnding(this.#source, this.#position);
    if (rest.length === 0) return false;
    const copies = rest.map((event) => copyOf(event, this.#ids, this.#places, event.at));
    return this.#accept({ events: copies, run: fold(this.#run, copies) }, this.#position);
  }

  #diverge(matched: number, events: readonly RunEvent[] = []): void {
    const atSequence = this.#position + matched;
    const original = this.#source[atSequence];
    const replayed = events[matched];
    this.divergedAt = atSequence;
    const step = openStep(this.#plan, this.#run, this.#now);
    emit(step, 'replay.diverged', divergence(this.#ids, atSequence, original, replayed));
    this.#accept({ events: step.events, run: step.run });
    this.#unbound = this.#recording.unbound.findIndex(({ sequence }) => sequence >= this.#position);
    if (this.#unbound === -1) this.#unbound = this.#recording.unbound.length;
  }

  /** I3. */
  #goOn(): boolean {
    if (isReady(this.#plan, this.#run)) {
      const command = { type: 'advance', now: this.#now, maxEvents: ADVANCE_EVENTS_MAX } as const;
      return this.#accept(decide(this.#plan, this.#run, command));
    }
    const recorded = this.#nextRecorded();
    if (!recorded) return this.#doWithout();
    if (recorded.event.nodeId === undefined) this.#unbound++;
    const now = Math.max(this.#now, recorded.event.at);
    this.#places[recorded.sequence] = this.#run.nextSeq;
    this.#accept(this.#reliving(recorded, now)(this.#run));
    return true;
  }

  #nextRecorded(): Recorded | undefined {
    const { unbound } = this.#recording;
    const isPassed = ({ sequence, event }: Recorded): boolean =>
      (this.divergedAt === undefined && sequence < this.#position) ||
      (event.type === 'run.resumed' && this.#run.status !== 'paused');
    while (this.#unbound < unbound.length && isPassed(unbound[this.#unbound]!)) this.#unbound++;
    return nextRecorded(this.#plan, this.#run, this.#recording, this.#executions, this.#unbound);
  }

  #reliving(recorded: Recorded, now: number): Attempt {
    const { end } = this.#recording;
    return (run) => this.#inStep(run, now, (step) => relive(step, recorded, end, this.#ids, this.#places));
  }

  #inStep(run: Run, now: number, act: (step: Step) => void): Decision {
    const step = openStep(this.#plan, run, now);
    act(step);
    return { events: step.events, run: step.run };
  }

  #doWithout(): boolean {
    if (this.#run.status !== 'running') return false;
    for (const node of this.#plan.order) {
      const state = this.#run.nodes.get(node.id);
      if (!state || !isActive(state) || !this.#isPast(node.id)) continue;
      const due = dueOf(state) ?? this.#now;
      const act = (step: Step): void => settleUnrecorded(step, node, state);
      return this.#accept(this.#inStep(this.#run, Math.max(this.#now, due), act));
    }
    return false;
  }

  #isPast(nodeId: string): boolean {
    if (this.#recording.end) return true;
    this.#sourceRun ??= fold(newRun(this.#options.source.facts), this.#source);
    return isPast(this.#sourceRun, this.#run, nodeId);
  }

  #accept(decision: Decision, position?: number): boolean {
    const first = this.#run.nextSeq;
    if (position !== undefined) {
      decision.events.forEach((_, index) => {
        this.#places[position + index] = first + index;
      });
      this.#position = position + decision.events.length;
    }
    this.#run = decision.run;
    this.#note(decision.events);
    return decision.events.length > 0;
  }

  #note(events: readonly RunEvent[]): void {
    for (const event of events) {
      this.events.push(event);
      this.#executions.place(event);
      if (isWellFormed(event)) this.#now = event.at;
    }
  }
}

/** Time limits of a run are part of its log: a replay neither exceeds them again nor avoids them. */
function timelessPlan({ timeoutMs: _limit, ...plan }: Plan): Plan {
  return plan;
}

/** The facts that decisions need: variables that the parent left unset stay unset. */
function timelessFacts(facts: RunFacts, { parent }: RunFacts): RunFacts {
  const { runTimeoutMs: _limit, ...configurable } = facts.configurable;
  const limits = { ...facts.limits, maxRunDurationMs: Number.POSITIVE_INFINITY };
  return { ...facts, configurable, limits, ...(parent && { parent }) };
}

/** Payload of `replay.diverged`: where and how the replay differs from its source. */
function divergence(
  { sourceRunId }: ForkIds,
  atSequence: number,
  original: RunEvent | undefined,
  replayed: RunEvent | undefined,
): JsonObject {
  if (!original)
    return { sourceRunId, atSequence, divergenceKind: 'extra', divergencePoint: replayed?.type ?? '' };
  const type = isWellFormed(original) ? original.type : 'unknown';
  const changed = replayed?.type === type ? 'output' : 'type-mismatch';
  return {
    sourceRunId,
    atSequence,
    originalEventId: eventId(sourceRunId, atSequence),
    divergenceKind: replayed ? changed : 'missing',
    divergencePoint: type,
  };
}

/** Whether the source has finished this execution of the node, so that no record can follow. */
function isPast(source: Run, run: Run, nodeId: string): boolean {
  const [theirs = 0, ours = 1] = [source.visits.get(nodeId), run.visits.get(nodeId)];
  if (theirs !== ours) return theirs > ours;
  const there = source.nodes.get(nodeId);
  return !(isActive(there) && attemptOf(there) === attemptOf(run.nodes.get(nodeId)));
}

const attemptOf = (state: NodeState | undefined): number | undefined =>
  state && 'attempt' in state ? state.attempt : undefined;

/** When the node continues without input. */
const dueOf = (state: NodeState): number | undefined =>
  state.status === 'retrying' ? state.retryAt : state.status === 'running' ? state.dueAt : undefined;

/** Timers also run in a replay, but missing input is never requested from outside. */
function settleUnrecorded(step: Step, node: PlanNode, state: NodeState): void {
  if (state.status === 'retrying') runNode(step, node);
  else if (dueOf(state) !== undefined) completeNode(step, node, {});
  else {
    const { message } = ERRORS.replay_source_missing;
    failNode(step, node, { code: 'replay_source_missing', message }, false);
  }
}
