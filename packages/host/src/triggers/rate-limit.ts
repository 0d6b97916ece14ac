/** Token buckets, one for each key, in this process. */
const KEYS_MAX = 10_000;

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Takes one token of the key's bucket; false when it is empty. */
export function createRateLimit({ perSecond, burst }: Rate, now: () => number): (key: string) => boolean {
  const buckets = new Map<string, { tokens: number; at: number }>();
  return (key) => {
    const at = now();
    const before = buckets.get(key) ?? { tokens: burst, at };
    const gained = (Math.max(0, at - before.at) / 1000) * perSecond;
    const tokens = Math.min(burst, before.tokens + gained);
    const allowed = tokens >= 1;
    buckets.delete(key);
    buckets.set(key, { tokens: allowed ? tokens - 1 : tokens, at });
    if (buckets.size > KEYS_MAX) buckets.delete(buckets.keys().next().value!);
    return allowed;
  };
}
