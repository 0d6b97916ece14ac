/** Children in the snapshot of their parent: their status, and whether the parent waits for one of them. */
import { type ChildRun, childRuns, type Plan, type Run, waitsForChildren } from '@gantry/engine';
import type { RunStatus } from '@gantry/protocol';
import type { Store } from '@gantry/store';

/** The maximum number of listed children. Running children are listed first. */
const LISTED_MAX = 100;
/** Statuses that need an answer from a person. */
const ASKING: readonly RunStatus[] = ['waiting-approval', 'waiting-input'];

export interface ChildrenView {
  readonly childRuns?: { readonly runId: string; readonly status: RunStatus }[];
  /** Replaces `running` when only an answer to a child can advance the run. */
  readonly status?: RunStatus;
}

export async function childrenView(
  runs: Pick<Store['runs'], 'row'>,
  plan: Plan,
  run: Run,
): Promise<ChildrenView> {
  const children = childRuns(run);
  if (children.length === 0) return {};
  const isUnderWay = ({ status }: ChildRun): boolean => status === 'running';
  const listed = [...children.filter(isUnderWay), ...children.filter((child) => !isUnderWay(child))];
  const { tenant } = run.facts.owner;
  const views = await Promise.all(
    listed.slice(0, LISTED_MAX).map(async ({ runId, status }) => {
      const row = status === 'running' ? await runs.row(tenant, runId) : null;
      return { runId, status: row?.status ?? status };
    }),
  );
  const status = views.find((child) => ASKING.includes(child.status))?.status;
  const mayMove = children.length > LISTED_MAX || views.some((child) => child.status === 'running');
  const waits = status !== undefined && !mayMove && waitsForChildren(plan, run);
  return { childRuns: views, ...(waits && { status }) };
}

/** Part of the ETag of a snapshot: children change without an event in the log of their parent. */
export const childrenTag = ({ childRuns = [] }: ChildrenView): string =>
  childRuns.length === 0 ? '' : `-${childRuns.map(({ status }) => status).join('.')}`;
