/** The deliveries behind the handles of a lease. */
import { OpenwopError } from '@gantry/protocol';
import type { QueueDelivery } from '../ports/queue.ts';
import { type Granted, type QueueCall, type QueueStore, readHandle } from './queue-store.ts';

export async function deliveriesOf(
  store: Pick<QueueStore, 'messages'>,
  { handles, messages }: Granted,
  call: QueueCall,
): Promise<readonly QueueDelivery[]> {
  const parts = handles.map((handle) => ({ handle, seq: 0, count: 0, ...readHandle(handle) }));
  if (parts.length === 0) return [];
  const seqs = parts.map(({ seq }) => seq);
  const found = messages ?? (await store.messages(seqs, call.tenant));
  const bySeq = new Map(found.map(({ seq, ...message }) => [seq, message]));
  const deliveries = parts.flatMap(({ handle, seq, count: deliveryCount }) => {
    const message = bySeq.get(seq);
    return message ? [{ ...message, deliveryCount, handle }] : [];
  });
  const missing = handles.length - deliveries.length;
  if (missing > 0 && 'invocation' in call) throw gone(missing, handles.length);
  return deliveries;
}

const gone = (missing: number, all: number): OpenwopError =>
  new OpenwopError('queue_delivery_token_expired', {
    message:
      `This call was given ${all} messages when the node first ran, and ${missing} of them are not kept any more: ` +
      'they have expired, or were acknowledged and made room for others. Start a new run for what is there now.',
  });
