/** Failures of the store that an operator can fix. Any other failure is a bug and stays a plain Error. */
const NEXT = {
  schema_mismatch:
    'This version can only add to older data: start with an empty data folder or database, or with the Gantry version that made this one.',
  locked: 'Stop the other process, or choose another data folder.',
  disk_full: 'Free space or raise the limit; nothing of this commit was kept, and later ones work again.',
  read_only: 'Give this user write access to it, or choose another data folder.',
  io: 'Check that it is there and reachable, then try again.',
  corrupt: 'Stop, keep a copy of the data, and restore a backup.',
  too_long: 'Use a shorter one.',
  rejected: 'Correct what this commit writes; nothing of it was kept.',
  invalid_text: 'Refuse text with NUL or half a surrogate pair where it comes in.',
} as const;

const NEXT_UNKNOWN = 'Read what was to be written before it is written again.';

export type StoreErrorCode = keyof typeof NEXT;

/** The outcome of a failed write. `unknown`: its answer was lost, and it may have been applied as a whole. */
export type WriteOutcome = 'not-applied' | 'unknown';

export interface StoreErrorOptions {
  readonly cause?: unknown;
  readonly outcome?: WriteOutcome;
}

export class StoreError extends Error {
  readonly code: StoreErrorCode;
  readonly happened: string;
  readonly outcome: WriteOutcome;

  /** `happened` is one sentence. The advice for the code is appended. */
  constructor(code: StoreErrorCode, happened: string, options: StoreErrorOptions = {}) {
    const { outcome = 'not-applied', cause } = options;
    super(`${happened} ${outcome === 'unknown' ? NEXT_UNKNOWN : NEXT[code]}`, { cause });
    this.name = 'StoreError';
    this.code = code;
    this.happened = happened;
    this.outcome = outcome;
  }
}
