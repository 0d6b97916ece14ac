import { newId } from '@gantry/protocol';

const COUNTER_BYTES = 3;

export interface DeliveryStamp {
  readonly id: string;
  readonly at: number;
}

/**
 * Ids of one process grow from call to call, also inside a millisecond and when the clock is set back: a lane
 * sends in the order of its ids, and the events of one commit share their millisecond.
 */
export function createDeliveryStamps(
  now: () => number,
  randomBytes: (count: number) => Uint8Array,
): () => DeliveryStamp {
  let at = 0;
  let counter = 0;
  const counted = (count: number): Uint8Array => {
    const bytes = Buffer.from(randomBytes(count));
    bytes.writeUIntBE(counter, 0, COUNTER_BYTES);
    return bytes;
  };
  return () => {
    const time = Math.max(at, now());
    counter = time === at ? counter + 1 : 0;
    at = time;
    return { id: newId('whd', at, counted), at };
  };
}
