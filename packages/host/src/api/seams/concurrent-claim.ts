/**
 * Several executors attempt one effect of a run at once, as when a run is taken over from a process that is
 * still alive.
 */
import type { Api } from '@gantry/http';
import { CommitPipeline } from '@gantry/store';
import Type from 'typebox';
import { InvocationLog, logicalInvocationId } from '../../runtime/invocation-log.ts';
import type { ApiDeps } from '../context.ts';
import { noop, seamId } from './definition.ts';
import type { Drive } from './drive.ts';
import { seam } from './seam.ts';

const Race = Type.Object({ executors: Type.Optional(Type.Integer({ minimum: 2, maximum: 16 })) });

export function concurrentClaimSeam(app: Api, { store, now }: ApiDeps, drive: Drive): void {
  seam(app, 'test/idempotency/concurrent-claim', Race, async (caller, { executors = 2 }) => {
    const key = await drive.start(caller, [noop(seamId('claimed'))]);
    const effect = { ...key, nodeId: 'work', ordinal: 0, providerKey: 'conformance', idempotent: false };
    let delivered = 0;
    const act = async () => {
      delivered++;
      return { ok: true, outputs: {} } as const;
    };
    // Each has its own log and store access: only the claim is shared
    const racing = Array.from({ length: executors }, async () => {
      await new InvocationLog(new CommitPipeline(store), store.records, now).perform(effect, act);
      return logicalInvocationId(effect);
    });
    const mintedIds = await Promise.all(racing);
    return { logicalInvocationId: mintedIds[0]!, mintedIds, attempted: mintedIds.length, delivered };
  });
}
