/**
 * The axis of a timeline. Stretches in which nothing works are folded: a night of waiting is as wide as a label, and
 * the seconds before and after it stay readable.
 */

export interface Stretch {
  readonly from: number;
  readonly to: number;
}

export interface Piece extends Stretch {
  readonly isFolded: boolean;
  /** Place and size as parts of the whole width. */
  readonly x: number;
  readonly width: number;
}

export interface TimeScale {
  readonly pieces: readonly Piece[];
  /** The place of a time, from 0 to 1. */
  x(at: number): number;
}

const FOLDED_WIDTH = 0.08;
/** Less than this part of the whole is not worth folding. */
const IDLE_PART_MIN = 0.15;
const FOLDS_MAX = 4;

/** Overlapping stretches as one. */
function joined(stretches: readonly Stretch[]): Stretch[] {
  const found: { from: number; to: number }[] = [];
  for (const { from, to } of stretches.toSorted((a, b) => a.from - b.from)) {
    const last = found.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else found.push({ from, to });
  }
  return found;
}

function idleBetween(work: readonly Stretch[], { from, to }: Stretch): Stretch[] {
  const ends = [from, ...work.map((each) => each.to)];
  const starts = [...work.map((each) => each.from), to];
  return ends.map((end, at) => ({ from: end, to: starts[at]! }));
}

/** `work`: when something was done; `whole`: what the axis shows. */
export function timeScale(work: readonly Stretch[], whole: Stretch): TimeScale {
  const total = Math.max(1, whole.to - whole.from);
  const size = ({ from, to }: Stretch): number => to - from;
  const folds = idleBetween(joined(work), whole)
    .filter((each) => size(each) / total >= IDLE_PART_MIN)
    .sort((a, b) => size(b) - size(a))
    .slice(0, FOLDS_MAX)
    .sort((a, b) => a.from - b.from);
  const shown = total - folds.reduce((sum, each) => sum + size(each), 0);
  const widthOf = (each: Stretch, isFolded: boolean): number => {
    if (isFolded) return shown === 0 ? 1 / folds.length : FOLDED_WIDTH;
    return (size(each) / shown) * (1 - FOLDED_WIDTH * folds.length);
  };
  const pieces: Piece[] = [];
  let at = whole.from;
  let x = 0;
  const put = (to: number, isFolded: boolean): void => {
    if (to <= at) return;
    const width = widthOf({ from: at, to }, isFolded);
    pieces.push({ from: at, to, isFolded, x, width });
    x += width;
    at = to;
  };
  for (const fold of folds) {
    put(fold.from, false);
    put(fold.to, true);
  }
  put(whole.to, false);
  return { pieces, x: (time) => placeOf(pieces, time) };
}

function placeOf(pieces: readonly Piece[], time: number): number {
  const piece = pieces.find(({ to }) => time <= to) ?? pieces.at(-1);
  if (piece === undefined) return 0;
  const part = (time - piece.from) / (piece.to - piece.from);
  return piece.x + piece.width * Math.min(1, Math.max(0, part));
}
