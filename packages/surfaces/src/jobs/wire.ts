/** What a job process and its host agree on. Loads nothing: processes start fast. */

/** The file descriptor that closes when the host is gone. */
export const LIFELINE_FD = 4;

/** Resident memory of a process at work. */
export const MEMORY_BYTES_MAX = 536_870_912;
/** Ends a process that exceeded it. */
export const MEMORY_SIGNAL = 'SIGUSR2';

/** From the process to its host. */
export type JobMessage<Answer> =
  /** It takes jobs now, or never will. */
  | { readonly kind: 'opened'; readonly failure?: Answer }
  /** Only the commit is left: from then on a lost answer leaves the outcome unknown. */
  | { readonly kind: 'committing' }
  | { readonly kind: 'answer'; readonly answer: Answer };
