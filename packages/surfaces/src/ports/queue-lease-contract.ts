/** I8 of the queue port. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LEASE_BYTES_MAX } from '../capabilities/queue/queue-store.ts';
import { freshTenant } from '../testing/calls.ts';
import type { QueueBounds, QueueMessage, QueuePort } from './queue.ts';
import { QUEUE_CONTRACT_BOUNDS, userOf } from './queue-user-contract.ts';

/** With room for so much. */
export const QUEUE_LEASE_BOUNDS: QueueBounds = { ...QUEUE_CONTRACT_BOUNDS, quotaBytes: 268_435_456 };

const MESSAGES = 20;
/** Near the most that one may have. */
const TEXT = 'x'.repeat(260_000);

const bodyBytes = ({ messageId, payload, headers }: QueueMessage): number =>
  Buffer.byteLength(JSON.stringify({ messageId, payload, headers }));

/** `open` makes a port with `QUEUE_LEASE_BOUNDS`. */
export function queueLeaseContract(
  name: string,
  open: () => Promise<{ readonly port: QueuePort; close(): Promise<void> }>,
  options: { readonly skip?: string | false } = {},
): void {
  test(`queue port: ${name} gives no more at once than an answer carries`, options, async (t) => {
    const { port, close } = await open();
    t.after(close);
    const { publish, take, ack } = userOf(port, freshTenant());
    for (let n = 0; n < MESSAGES; n++) await publish('t', `${n} ${TEXT}`);
    const numbers: number[] = [];
    for (let round = 0; numbers.length < MESSAGES; round++) {
      const got = await take('t', { messagesMax: 100 });
      const bytes = got.reduce((sum, each) => sum + bodyBytes(each), 0);
      assert.ok(got.length > 1 && bytes <= LEASE_BYTES_MAX, `${got.length} with ${bytes} in round ${round}`);
      numbers.push(...got.map(({ payload }) => Number.parseInt(String(payload), 10)));
      for (const delivery of got) await ack(delivery);
    }
    assert.deepEqual(
      numbers,
      Array.from({ length: MESSAGES }, (_, n) => n),
    );
  });
}
