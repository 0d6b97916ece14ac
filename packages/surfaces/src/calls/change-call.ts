/** Writes of surfaces on resources. Each is one change, committed together with the record of its caller. */
import { given, type Json } from '@gantry/protocol';
import type { Caller, Change, Changes } from '@gantry/resources';
import { assertSameCall } from './call-journal.ts';
import type { ChangeCall, NumberedCall } from './surface-call.ts';

/** The caller as resources know it. */
function callerOf({ owner, caller, invocation }: ChangeCall): Caller {
  if (caller.kind === 'person')
    return { ...owner, kind: 'person', actor: caller.actor, ...given({ request: caller.request }) };
  const { runId, nodeId, work } = caller;
  if (!invocation || !work) throw new Error('A node without its run cannot change resources');
  const { epoch, tell } = work;
  const call = { invocationId: invocation.id, runId, nodeId };
  return { ...owner, kind: 'node', actor: runId, call, epoch, tell };
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
