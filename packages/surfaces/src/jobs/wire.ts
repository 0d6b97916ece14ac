/** The protocol between a job process and its host. No imports: processes start fast. */

/** The file descriptor that closes when the host exits. */
export const LIFELINE_FD = 4;

/** The limit of resident memory of a process. */
export const MEMORY_BYTES_MAX = 536_870_912;
/** Ends a process that exceeded the limit. */
export const MEMORY_SIGNAL = 'SIGUSR2';

/** From the process to its host. */
export type JobMessage<Answer> =
  /** The process accepts jobs now, or never will. */
  | { readonly kind: 'opened'; readonly failure?: Answer }
  /** Only the commit remains. From here on a lost answer means an unknown outcome. */
  | { readonly kind: 'committing' }
  | { readonly kind: 'answer'; readonly answer: Answer };
