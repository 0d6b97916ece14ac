/** Tries a wall out by starting a process behind it. */
import { Child } from '../child.ts';
import { type Launcher, RUNNER_FOLDER, type View, type Wall } from './launch.ts';

/** Long, since a child gets little CPU time on a busy machine. */
const PROBE_MS = 30_000;
/** How often a probe is made that was killed, or had no answer in time: that says nothing about the machine. */
const PROBES_MAX = 3;
const COMPLAINT_MAX = 500;

/** Private memory in addition to the limit of the pack, for growth that the pack does not cause. */
const HEADROOM_BYTES = 64 * 1024 * 1024;

const bounded = (launcher: Launcher, idleBytes: number): Launcher => ({
  ...launcher,
  command: ({ dataBytes = Number.NaN, ...launch }) =>
    launcher.command({
      ...launch,
      ...(dataBytes >= 0 && { dataBytes: idleBytes + dataBytes + HEADROOM_BYTES }),
    }),
});

/** By wall and program: a combination that worked in this process is not probed again for another sandbox. */
const idleBytesOf = new Map<string, number>();

/** Why a probe failed. `wasKilled`: it may succeed when it is repeated. */
export interface Failure {
  readonly reason: string;
  readonly wasKilled: boolean;
}

/** Repeated if it was killed. */
export async function probe(wall: Wall, view: View): Promise<Launcher | Failure> {
  for (let tries = 1; ; tries++) {
    const probed = await probeOnce(wall, view);
    if (!('wasKilled' in probed) || !probed.wasKilled || tries === PROBES_MAX) return probed;
  }
}

/**
 * Starts a real child without a pack. When it answers, its whole runner is loaded, and its memory is measured.
 * Returns a launcher that limits the memory of its processes, or the reason why it does not work.
 */
async function probeOnce(wall: Wall, view: View): Promise<Launcher | Failure> {
  const launcher = wall.launcherOf(view);
  const key = JSON.stringify([wall.kind, wall.isFiltered, view.files]);
  const known = idleBytesOf.get(key);
  if (known !== undefined) return bounded(launcher, known);
  const { promise, resolve } = Promise.withResolvers<Launcher | Failure>();
  let idleBytes: number | undefined;
  const child = new Child(launcher.command({ folder: RUNNER_FOLDER, flags: [] }), '', {
    message() {
      idleBytes = child.memory()?.data;
      child.kill();
    },
    end(end) {
      clearTimeout(timer);
      const { reason = 'it did not start in time', wasKilled = end.kind === 'killed' } =
        end.kind === 'exited' ? end : {};
      if (idleBytes !== undefined) {
        idleBytesOf.set(key, idleBytes);
        resolve(bounded(launcher, idleBytes));
      } else resolve({ reason: `${launcher.kind}: ${reason.slice(0, COMPLAINT_MAX)}`, wasKilled });
    },
  });
  const timer = setTimeout(() => child.kill(), PROBE_MS);
  child.send({ type: 'ping', token: '' });
  return promise;
}
