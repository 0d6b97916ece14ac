/** Writes of surfaces on resources. Each is one change, committed together with the record of its caller. */
import { given, type Json } from '@gantry/protocol';
import type { Caller, Change, Changes } from '@gantry/resources';
import { assertSameCall } from './call-journal.ts';
import type { ChangeCall, NumberedCall, ReadCall } from './surface-call.ts';

/** The caller as resources know it. Reads of a node are recorded elsewhere (`seen-reads.ts`), not here. */
export function callerOf(asked: ReadCall & ChangeCall): Caller {
  const { tenant, workspace, principal, caller, invocation } = asked;
  const acting = { tenant, workspace };
  if (caller.kind === 'person')
    return { ...acting, kind: 'person', actor: principal, ...given({ request: caller.request }) };
  const { runId, nodeId, work } = caller;
  if (!invocation) return { ...acting, kind: 'system', actor: runId };
  if (!work) throw new Error('A node without its run cannot change resources');
  const { epoch, tell } = work;
  const call = { invocationId: invocation.id, runId, nodeId };
  return { ...acting, kind: 'node', actor: runId, call, epoch, tell };
}

type Recorded = Pick<NumberedCall, 'method' | 'fingerprint'> & { readonly value: unknown };

/** `work` may run several times. Its only effect is its change. */
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
