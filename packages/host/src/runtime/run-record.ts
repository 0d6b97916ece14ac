/** Converts between the engine's run and the store's rows. */
import { fold, newRun, type Run, type RunFacts, runOf } from '@gantry/engine';
import { fromStored, type RunEvent, type StoredEvent, toStored } from '@gantry/protocol';
import type { LoadedRun, RunSnapshotRecord, RunFacts as StoredFacts } from '@gantry/store';

/** The facts in the `request` column; the others have columns of their own. */
type RequestRecord = Omit<RunFacts, keyof typeof OF_COLUMNS>;

/** JSON omits undefined values. */
const OF_COLUMNS = {
  runId: undefined,
  workflowId: undefined,
  workflowHash: undefined,
  createdAt: undefined,
  owner: undefined,
};

export function toStoredFacts(facts: RunFacts, scopeId: string | null): StoredFacts {
  const { runId, workflowId, workflowHash, createdAt, owner } = facts;
  return {
    runId,
    tenant: owner.tenant,
    workspace: owner.workspace ?? null,
    principal: owner.principal ?? null,
    workflowId,
    workflowHash,
    scopeId,
    createdAt,
    request: JSON.stringify({ ...facts, ...OF_COLUMNS }),
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

/** Folds the stored state of a run: its snapshot, then the short tail after it. */
export function toRun(loaded: LoadedRun): Run {
  const facts = fromStoredFacts(loaded.row);
  const base = loaded.snapshot ? runOf({ ...JSON.parse(loaded.snapshot.state), facts }) : newRun(facts);
  const run = fold(base, loaded.tail.map(fromStored));
  if (run.nextSeq !== loaded.row.nextSeq) {
    throw new Error(`run ${facts.runId}: log has ${run.nextSeq} events, its row says ${loaded.row.nextSeq}`);
  }
  return run;
}
