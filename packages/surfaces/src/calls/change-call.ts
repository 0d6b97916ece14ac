/** Writes of surfaces on resources: each is one change, with the record of its caller in the same commit. */
import type { Json } from '@gantry/protocol';
import type { Caller, Change, Changes } from '@gantry/resources';
import { assertSameCall } from './call-journal.ts';
import type { ChangeCall, ReadCall } from './surface-call.ts';

/** As resources know it. What a node reads is recorded elsewhere (`seen-reads.ts`), so its reads record nothing. */
export function callerOf({
  tenant,
  workspace,
  principal,
  caller,
  invocation,
}: ReadCall & ChangeCall): Caller {
  const acting = { tenant, workspace };
  if (caller.kind === 'person')
    return {
      ...acting,
      kind: 'person',
      actor: principal,
      ...(caller.request && { request: caller.request }),
    };
  const { runId, nodeId, work } = caller;
  if (!invocation) return { ...acting, kind: 'system', actor: runId };
  if (!work) throw new Error('A node without its run cannot change resources');
  const { epoch, tell } = work;
  return {
    ...acting,
    kind: 'node',
    actor: runId,
    call: { invocationId: invocation.id, runId, nodeId },
    epoch,
    tell,
  };
}

interface Recorded {
  readonly method: string;
  readonly fingerprint: string;
  readonly value: unknown;
}

/** `work` may run several times, and has no effect but through its change. */
export async function changed<T extends Json>(
  changes: Pick<Changes, 'run'>,
  call: ChangeCall,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  const { invocation } = call;
  if (!invocation) return changes.run(callerOf(call), work);
  const { method, fingerprint } = invocation;
  let made: Recorded | undefined;
  const recorded = await changes.run(callerOf(call), async (change): Promise<Recorded> => {
    made = { method, fingerprint, value: await work(change) };
    return made;
  });
  if (recorded !== made) assertSameCall(invocation, recorded);
  return recorded.value as T;
}
