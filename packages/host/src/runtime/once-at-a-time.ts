import { limiter } from '@gantry/limiter';

/** One after another; calls that come while one waits for its turn are answered by it. */
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
