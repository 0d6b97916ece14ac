import { randomFillSync } from 'node:crypto';

/** A pool of random bytes: one system call is enough for hundreds of run ids. */
const pool = new Uint8Array(4096);
let used = pool.length;

export function randomBytes(count: number): Uint8Array {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += count;
  return pool.slice(used - count, used);
}
