/** One after another; calls that come while one waits for its turn are answered by it. */
export function onceAtATime(work: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve();
  let waits = false;
  return () => {
    if (waits) return last;
    waits = true;
    last = last
      .catch(() => {})
      .then(() => {
        waits = false;
        return work();
      });
    return last;
  };
}
