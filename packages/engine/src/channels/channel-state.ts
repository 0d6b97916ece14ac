import type { Json } from '@gantry/protocol';

/** A channel after its writes so far, in clear. */
export interface ChannelState {
  readonly value: Json;
  /** The oldest schema version among the writes, and the sequence of its first write. */
  readonly schemaVersion: number;
  readonly schemaSeq: number;
}
