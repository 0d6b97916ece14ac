/**
 * How long a read that looks through what is stored may take; PostgreSQL ends its statements as soon. [m] 20,000
 * documents with 99 conditions take 0.4 s, 100,000 vectors 0.1 s.
 */
export const SCAN_MS_MAX = 10_000;
