const UNITS = ['kB', 'MB'] as const;

/** @example sizeOf(1_536) // '1.5 kB' */
export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const [unit, count] = bytes < 999_950 ? [UNITS[0], bytes / 1000] : [UNITS[1], bytes / 1_000_000];
  return `${count.toFixed(1)} ${unit}`;
}
