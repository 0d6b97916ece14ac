import { EventDiffs, stateDiff } from '@gantry/engine';
import { type Api, callerOf, notModified, readPayload } from '@gantry/http';
import { isTerminal, RunDiffQuery, RunDiffResponse, type StoredEvent } from '@gantry/protocol';
import type { RunKey } from '@gantry/store';
import type { ReadRun } from '../runtime/runtime.ts';
import type { ApiDeps } from './context.ts';
import { missingRun } from './missing-run.ts';
import { RUN_URL, RunParams } from './runs.ts';

const PAGE = 500;

const DIFF = {
  summary: 'Compare two runs',
  params: RunParams,
  querystring: RunDiffQuery,
  response: { 200: RunDiffResponse },
};

/** Compares both logs page by page, so logs of any length need the memory of two pages. */
async function eventDiffs(runs: ApiDeps['store']['runs'], tenant: string, a: ReadRun, b: ReadRun) {
  const ids = [a.run.facts.runId, b.run.facts.runId] as const;
  const isOver = isTerminal(a.run.status) && isTerminal(b.run.status);
  const [ofA, ofB] = [a.run.nextSeq, b.run.nextSeq];
  // Events that a running run has not produced yet are no difference.
  const length = isOver ? Math.max(ofA, ofB) : Math.min(ofA, ofB);
  const diffs = new EventDiffs(...ids);
  const page = (runId: string, from: number, end: number): Promise<StoredEvent[]> =>
    from >= end ? Promise.resolve([]) : runs.events(tenant, runId, from, Math.min(PAGE, end - from));
  for (let from = 0; from < length && !diffs.truncated; from += PAGE) {
    const [left, right] = await Promise.all([
      page(ids[0], from, Math.min(ofA, length)),
      page(ids[1], from, Math.min(ofB, length)),
    ]);
    for (let at = 0; at < Math.max(left.length, right.length) && !diffs.truncated; at++)
      diffs.add(from + at, left[at], right[at]);
  }
  return { diffs, isOver };
}

async function diffText(runs: ApiDeps['store']['runs'], tenant: string, a: ReadRun, b: ReadRun) {
  const { diffs, isOver } = await eventDiffs(runs, tenant, a, b);
  const state = stateDiff(a.snapshot, b.snapshot);
  const rest = {
    a: a.run.facts.runId,
    b: b.run.facts.runId,
    divergedAtSeq: diffs.divergedAtSeq,
    stateDiff: state.differences,
    ...((diffs.truncated || state.truncated || !isOver) && { truncated: true }),
  };
  return `${JSON.stringify(rest).slice(0, -1)},"eventDiffs":${diffs.json()}}`;
}

export function diffRoute(app: Api, deps: ApiDeps): void {
  const { runtime, store } = deps;
  async function read(key: RunKey): Promise<ReadRun> {
    const found = await runtime.read(key);
    if (found === null) throw missingRun(deps, key.runId, { runId: key.runId });
    return found;
  }

  app.get(`${RUN_URL}::diff`, { schema: DIFF }, async (request, reply) => {
    const { tenant } = callerOf(request);
    const [runId, against] = [request.params.runId, request.query.against];
    const [a, b] = await Promise.all([read({ tenant, runId }), read({ tenant, runId: against })]);
    if (notModified(request, reply, `"${runId}-${a.run.nextSeq}-${against}-${b.run.nextSeq}"`)) return '';
    return readPayload(request, reply, await diffText(store.runs, tenant, a, b));
  });
}
