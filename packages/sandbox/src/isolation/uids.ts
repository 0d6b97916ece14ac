/**
 * Gives each pack process its own uid when the host runs as root.
 *
 * I1 No two living processes share a uid, whether of this host or another one on the machine.
 */
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

export interface UidRange {
  readonly first: number;
  readonly last: number;
}

/** Reserved by convention: systemd assigns them to services while they run. */
export const DEFAULT_UIDS: UidRange = { first: 61_184, last: 65_519 };

/** The uids in use by all sandboxes in this process. */
const taken = new Set<number>();

/** A rootless container has few uids. Each line of the map is `inside outside count`. */
const rangesIn = (map: string): readonly UidRange[] =>
  [...map.matchAll(/^\s*(\d+)\s+\d+\s+(\d+)/gm)].map(([, inside, count]) => ({
    first: Number(inside),
    last: Number(inside) + Number(count) - 1,
  }));

const exists = (id: number, ranges: readonly UidRange[]): boolean =>
  ranges.some(({ first, last }) => id >= first && id <= last);

/** Read from its status: the `/proc` folder of a process that has just changed its uid belongs to root. */
function uidOf(pid: string): number | undefined {
  try {
    const [, uid] = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return uid === undefined ? undefined : Number(uid);
  } catch {
    return undefined;
  }
}

const isAtWork = (uid: number): boolean =>
  readdirSync('/proc').some((name) => /^\d+$/.test(name) && uidOf(name) === uid);

export class Uids {
  readonly #uids: readonly number[];
  #next: number;

  constructor({ first, last }: UidRange) {
    const maps = ['uid', 'gid'].map((kind) => rangesIn(readFileSync(`/proc/self/${kind}_map`, 'utf8')));
    const all = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    this.#uids = all.filter((id) => maps.every((map) => exists(id, map)));
    if (this.#uids.length === 0)
      throw new Error(
        `none of the uids ${first} to ${last} exists here (see /proc/self/uid_map); name others in GANTRY_SANDBOX_UIDS`,
      );
    // Start at a random uid, so that hosts on the same machine rarely collide.
    this.#next = randomInt(this.#uids.length);
  }

  /** Throws when all uids are in use. */
  take(): number {
    for (const _ of this.#uids) {
      const uid = this.#uids[this.#next++ % this.#uids.length] ?? 0;
      if (taken.has(uid) || isAtWork(uid)) continue;
      taken.add(uid);
      return uid;
    }
    throw new Error('Every uid for pack processes is in use. Widen GANTRY_SANDBOX_UIDS.');
  }

  /** Call when no process uses this uid any more. */
  release(uid: number): void {
    taken.delete(uid);
  }
}
