import { limiter } from '@gantry/limiter';

/** Runs calls one after another; calls made while one is queued share its result. */
export function onceAtATime(work: () => Promise<void>): () => Promise<void> {
  const turns = limiter({ max: 1 });
  let waiting: Promise<void> | undefined;
  return () => {
    waiting ??= turns.run('', () => {
      waiting = undefined;
      return work();
    });
    return waiting;
  };
}
