/** The start of a run: its facts and first events, and everything that must be written with them. */
import { newRun, type Plan, type Run, type RunFacts, redactFacts, runOutputs } from '@gantry/engine';
import type { StoredEvent } from '@gantry/protocol';
import type { RunHead, Write } from '@gantry/store';
import { artifactWrites } from '../artifacts/artifact-record.ts';
import type { Redacting } from '../redaction/redacting-plan.ts';
import { decideAndAdvance, headOf } from './advance.ts';
import type { Inputs } from './clock.ts';
import { mailWrite, reportOf } from './mail.ts';
import { toStoredEvents, toStoredFacts } from './run-record.ts';
import type { Outbox, PreparedRun } from './runtime.ts';

export interface OpenedRun {
  readonly plan: Plan;
  readonly run: Run;
  readonly events: readonly StoredEvent[];
  readonly head: RunHead;
  /** One commit group: the run, its artifacts, and deliveries and mail about its first events. */
  readonly writes: readonly Write[];
}

export type Starting = Pick<Opening, 'clock' | 'redacting'>;

export interface Opening extends Inputs {
  readonly redacting: Redacting;
  readonly epoch: number;
  readonly outbox: Outbox;
}

/** Starts a run and takes it through its first in-process nodes. */
export function startRun({ clock, redacting }: Starting, plan: Plan, given: RunFacts): PreparedRun {
  const used = redacting(plan, given.owner.tenant);
  const facts = redactFacts(given, used.redact);
  const command = { type: 'start', now: facts.createdAt } as const;
  return { plan, ...decideAndAdvance(clock, used, newRun(facts), command) };
}

export function openRun(
  opening: Opening,
  { plan, run, events, artifacts }: PreparedRun,
  scopeId: string | null,
): OpenedRun {
  const stored = toStoredEvents(events, 0);
  const head = headOf(plan, run, opening.epoch, false);
  const facts = toStoredFacts(run.facts, scopeId);
  return {
    plan,
    run,
    head,
    events: stored,
    writes: [
      { kind: 'createRun', facts, head, events: stored },
      ...artifactWrites(run.facts, artifacts, opening.now()),
      ...opening.outbox.writes(run.facts, stored),
      ...reportWrites(opening, plan, run),
    ],
  };
}

/** A child that has ended reports to its parent in the commit of its end. */
export function reportWrites(inputs: Inputs, plan: Plan, run: Run): Write[] {
  const isSensitive = (name: string): boolean => plan.variables.get(name)?.sensitive === true;
  const outputs = run.facts.parent?.reportsOutputs && run.outputs ? runOutputs(plan, run).shown : undefined;
  const report = reportOf(run, isSensitive, outputs);
  if (!report) return [];
  return [mailWrite(inputs, { tenant: run.facts.owner.tenant, runId: run.facts.parent!.runId }, report)];
}
