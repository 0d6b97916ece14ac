import type { RunEvent } from '@gantry/protocol';
import type { Run } from '../run.ts';
import { isWhole } from './cut.ts';
import { Replay, type ReplayOptions } from './replay.ts';

/** A run made from the log of another, ready to be committed as a whole. */
export interface ForkedRun {
  readonly events: readonly RunEvent[];
  readonly run: Run;
  /** Sequence of the source's first event that a replay did not bring about again. */
  readonly divergedAt?: number;
}

/** A slice is about so many events: the caller may let others in between. */
const SLICE_EVENTS = 500;

/** Lives the source again from `fromSeq` on, slice by slice. Nothing outside is asked, ever. */
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

/** The source's events before `fromSeq`, and those after it without which no run can stand still. */
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
