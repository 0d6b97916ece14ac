/** Between the engine's run and the store's rows. */
import { fold, newRun, type Run, type RunFacts, type RunLimits } from '@gantry/engine';
import { fromStored, type JsonObject, type RunEvent, type StoredEvent, toStored } from '@gantry/protocol';
import type { LoadedRun, RunSnapshotRecord, RunFacts as StoredFacts } from '@gantry/store';

/** The JSON in the `request` column. */
interface RequestRecord {
  inputs: JsonObject;
  configurable: JsonObject;
  tags: string[];
  metadata: JsonObject;
  limits: RunLimits;
  traceparent?: string;
}

export function toStoredFacts(facts: RunFacts, scopeId: string | null): StoredFacts {
  const { inputs, configurable, tags, metadata, limits, traceparent } = facts;
  const request = { inputs, configurable, tags, metadata, limits, traceparent };
  return {
    runId: facts.runId,
    tenant: facts.owner.tenant,
    workspace: facts.owner.workspace ?? null,
    principal: facts.owner.principal ?? null,
    workflowId: facts.workflowId,
    workflowHash: facts.workflowHash,
    scopeId,
    createdAt: facts.createdAt,
    request: JSON.stringify(request),
  };
}

export function fromStoredFacts(stored: StoredFacts): RunFacts {
  const request: RequestRecord = JSON.parse(stored.request);
  return {
    ...request,
    runId: stored.runId,
    workflowId: stored.workflowId,
    workflowHash: stored.workflowHash,
    createdAt: stored.createdAt,
    owner: {
      tenant: stored.tenant,
      ...(stored.workspace !== null && { workspace: stored.workspace }),
      ...(stored.principal !== null && { principal: stored.principal }),
    },
  };
}

export function toStoredEvents(events: readonly RunEvent[], firstSeq: number): StoredEvent[] {
  const stored = new Array<StoredEvent>(events.length);
  for (let i = 0; i < events.length; i++) stored[i] = toStored(events[i]!, firstSeq + i);
  return stored;
}

/** Facts are in the run row already; the snapshot holds the rest of the state. */
export function toSnapshot(run: Run): RunSnapshotRecord {
  const { facts: _facts, ...state } = run;
  return { nextSeq: run.nextSeq, state: JSON.stringify(state) };
}

/** Folds what the store holds of a run: its snapshot, then the short tail after it. */
export function toRun(loaded: LoadedRun): Run {
  const facts = fromStoredFacts(loaded.row);
  const base = loaded.snapshot ? { ...JSON.parse(loaded.snapshot.state), facts } : newRun(facts);
  const run = fold(base, loaded.tail.map(fromStored));
  if (run.nextSeq !== loaded.row.nextSeq) {
    throw new Error(`run ${facts.runId}: log has ${run.nextSeq} events, its row says ${loaded.row.nextSeq}`);
  }
  return run;
}
