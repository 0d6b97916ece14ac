/** What the bare server and its writer thread say to each other. */
export interface WriterOptions {
  readonly file: string;
  /** Added to every commit, to stand for a slower disk. */
  readonly commitDelayMs: number;
}

/** run id, sequence, type, time, node id, payload */
export const COLUMNS = 6;
export type Cell = string | number | null;

/** Groups of equal size in one flat list: cheaper to clone between threads than objects. */
export interface Groups {
  readonly rowsPerGroup: number;
  readonly cells: Cell[];
}
export type Batch = readonly Groups[];

/** Nine events in two commits: what a run of three nodes needs at least. */
export const EVENTS_AFTER_CREATE = 8;
export const EVENTS_PER_RUN = 1 + EVENTS_AFTER_CREATE;
