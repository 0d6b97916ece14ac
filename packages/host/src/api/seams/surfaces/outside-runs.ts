/** What nodes may ask of the host, asked outside of any run. */
import { randomUUID } from 'node:crypto';
import { CommitPipeline } from '@gantry/store';
import type { Members } from '../../../packs/node-controls/members.ts';
import { InvocationLog } from '../../../runtime/invocation-log.ts';
import type { Surfaces } from '../../../surfaces/surfaces.ts';
import type { ApiDeps } from '../../context.ts';

const PACK = { name: 'vendor.gantry.seams', version: '1.0.0' };

export type MembersOutside = (
  caller: { readonly tenant: string; readonly principal: string },
  signal: AbortSignal,
) => Members;

/** Each is a node of a run that there is not: nothing is told, and nothing of one is there for the next. */
export function membersOutside(
  { store, now }: Pick<ApiDeps, 'store' | 'now'>,
  surfaces: Pick<Surfaces, 'membersFor'>,
): MembersOutside {
  const log = new InvocationLog(new CommitPipeline(store), store.records, now);
  return ({ tenant, principal }, signal) =>
    surfaces.membersFor({
      key: { tenant, runId: `seam-${randomUUID()}` },
      workspace: '',
      principal,
      nodeId: 'seam',
      attempt: 0,
      ordinalBase: 0,
      effect: 'effect',
      pack: PACK,
      peers: [],
      signal,
      log,
    });
}
