/** Children in the snapshot of their parent: what became of them, and what the parent waits for through them. */
import { type ChildRun, childRuns, type Plan, type Run, waitsForChildren } from '@gantry/engine';
import type { RunStatus } from '@gantry/protocol';
import type { Store } from '@gantry/store';

/** So many are listed, those under way first. */
const LISTED_MAX = 100;
/** Somebody has to answer. */
const ASKING: readonly RunStatus[] = ['waiting-approval', 'waiting-input'];

export interface ChildrenView {
  readonly childRuns?: { readonly runId: string; readonly status: RunStatus }[];
  /** In the place of `running`, when all that can happen next is an answer to a child. */
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

/** Part of the validator of a snapshot: children move without a word in the log of their parent. */
export const childrenTag = ({ childRuns = [] }: ChildrenView): string =>
  childRuns.length === 0 ? '' : `-${childRuns.map(({ status }) => status).join('.')}`;
