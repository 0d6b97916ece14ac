export interface Spread {
  readonly p50: number;
  readonly p99: number;
}

/** Null without samples. */
export function spreadOf(samples: readonly number[]): Spread | null {
  if (samples.length === 0) return null;
  const sorted = Float64Array.from(samples).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}

export function medianOf(samples: readonly number[]): number {
  return spreadOf(samples)?.p50 ?? Number.NaN;
}
