import type { RunEvent } from '@gantry/protocol';
import type { Run } from '../run.ts';
import { isWhole } from './cut.ts';
import { Replay, type ReplayOptions } from './replay.ts';

/** A run created from the log of another, ready to be committed as a whole. */
export interface ForkedRun {
  readonly events: readonly RunEvent[];
  readonly run: Run;
  /** Sequence of the first event of the source that the replay did not reproduce. */
  readonly divergedAt?: number;
}

/** The approximate number of events per slice: the caller may run other work between slices. */
const SLICE_EVENTS = 500;

/** Replays the source from `fromSeq` on, slice by slice. Makes no external calls. */
export function* replaySlices(options: ReplayOptions): Generator<undefined, ForkedRun> {
  const replay = new Replay(options);
  for (let next = replay.events.length + SLICE_EVENTS; replay.step(); ) {
    if (replay.events.length < next) continue;
    next = replay.events.length + SLICE_EVENTS;
    yield;
  }
  return forked(replay);
}

export function replayRun(options: ReplayOptions): ForkedRun {
  const slices = replaySlices(options);
  for (let slice = slices.next(); ; slice = slices.next()) if (slice.done) return slice.value;
}

/** The source's events before `fromSeq`, and as many after it as are needed for a consistent run. */
export function branchRun(options: ReplayOptions): ForkedRun {
  const replay = new Replay(options);
  replay.finishEnding();
  while (!isWhole(options.plan, replay.run) && replay.step());
  replay.finishEnding();
  return forked(replay);
}

function forked({ events, run, divergedAt }: Replay): ForkedRun {
  return divergedAt === undefined ? { events, run } : { events, run, divergedAt };
}
