/** What is measured: the same work, as a pack does it through surfaces and as a client does it directly. */

export const CALLS = {
  'kv put': { lanes: 64, goal: '> 5,000 /s' },
  'kv get': { lanes: 64, goal: '> 5,000 /s' },
  /** Each lane publishes a batch, takes it and acknowledges it, one call a message but for taking. */
  'queue publish to ack': { lanes: 4, goal: '> 3,000 /s' },
  'sql update': { lanes: 16 },
  'sql select': { lanes: 16 },
  'blob put': { lanes: 16 },
  'blob get': { lanes: 16 },
  /** At most 1.3 times as long as the library takes. In longer rounds, since a short one has a dozen of them. */
  'vector query': { lanes: 1, rounds: 3, goal: '> 0.77 of client' },
  /** A thousand in a call: 50,000 in less than 15 s. */
  'vector upsert': { lanes: 1, goal: '> 3,400 /s' },
  'search query': { lanes: 1, rounds: 3, goal: '> 0.77 of client' },
} as const satisfies Record<
  string,
  { readonly lanes: number; readonly rounds?: number; readonly goal?: string }
>;

export type CallName = keyof typeof CALLS;

export const BATCH = 16;
export const VECTORS = 1_000;
export const DIMENSIONS = 384;
export const COLLECTION = 'clustered';
export const INDEX = 'i';
export const OBJECT_BYTES = 4_096;
export const TEXT = 'x'.repeat(100);

/** Another one each time: SQLite does not write what is already there. */
export const textOf = (turn: number): string => `${turn} of ${TEXT}`;

export const PLACES_IN_LANE = 8;
/** Places of all lanes. */
export const PLACES = 512;

/** Lanes never meet: what one of them reads, it has written. */
export const placeOf = (lane: number, turn: number): number =>
  lane * PLACES_IN_LANE + (turn % PLACES_IN_LANE);

/** Answers how many it did: one call, or a batch of messages. */
export type Work = (lane: number, turn: number) => Promise<number>;

/** Each lane begins again when it is done, until it has been everywhere and the time is over. */
export async function perSecond(work: Work, lanes: number, ms: number): Promise<number> {
  const startedAt = performance.now();
  let done = 0;
  const lane = async (at: number): Promise<void> => {
    for (let turn = 0; turn < PLACES_IN_LANE || performance.now() - startedAt < ms; turn++) {
      const count = await work(at, turn);
      done += count;
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, at) => lane(at)));
  return (done * 1_000) / (performance.now() - startedAt);
}
