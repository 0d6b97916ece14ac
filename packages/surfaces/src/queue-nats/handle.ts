/** A delivery can be settled by any process until its time is over: the handle has all that takes. */

export interface NatsHandle {
  /** Where the server listens for what became of the delivery. */
  readonly reply: string;
  readonly topic: string;
  readonly group: string;
  readonly visibleUntil: number;
  /** Who remembers whether it was settled. */
  readonly holder: string;
}

export const handleOf = ({ reply, topic, group, visibleUntil, holder }: NatsHandle): string =>
  JSON.stringify([reply, topic, group, visibleUntil, holder]);

/** Null for what was never a handle. */
export function readHandle(handle: string): NatsHandle | null {
  const parts = parse(handle);
  if (!Array.isArray(parts)) return null;
  const [reply, topic, group, visibleUntil, holder] = parts;
  const texts = [reply, topic, group, holder];
  if (!texts.every((each) => typeof each === 'string') || typeof visibleUntil !== 'number') return null;
  return { reply, topic, group, visibleUntil, holder };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
