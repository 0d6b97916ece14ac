/** The host functions of nodes, called outside of any run. */
import { randomUUID } from 'node:crypto';
import { type EmittedEvent, ownerOf } from '@gantry/protocol';
import type { NodeCaller } from '@gantry/resources';
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

/** Each call is a node of a run that does not exist, so calls share no state. `told` gets its events. */
export function membersOutside(
  { store, now }: Pick<ApiDeps, 'store' | 'now'>,
  surfaces: Pick<Surfaces, 'membersFor'>,
  told?: EmittedEvent[],
): MembersOutside {
  const pipeline = new CommitPipeline(store);
  const log = new InvocationLog(pipeline, store.records, now);
  const tell: NodeCaller['tell'] = (events, writes) => {
    told?.push(...events);
    return pipeline.commit(writes);
  };
  return ({ tenant, principal }, signal) =>
    surfaces.membersFor({
      key: { tenant, runId: `seam-${randomUUID()}` },
      owner: ownerOf({ tenant, principal }),
      nodeId: 'seam',
      attempt: 0,
      ordinalBase: 0,
      effect: 'effect',
      pack: PACK,
      peers: [],
      signal,
      log,
      ...(told && { work: { epoch: 0, tell } }),
    });
}
