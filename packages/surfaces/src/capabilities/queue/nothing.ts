/** What a lease of who waits is refused with when it finds nothing: so nothing of it is kept. Threads load this file. */
import { Refusal } from '../../refusal.ts';

export const nothingThere = (): Refusal =>
  new Refusal('queue_backend_unavailable', { details: { nothingThere: true } });

/** As it comes out of a database. */
export const isNothingThere = (error: unknown): boolean =>
  error instanceof Error && 'details' in error && isMarked(error.details);

const isMarked = (details: unknown): boolean =>
  typeof details === 'object' &&
  details !== null &&
  'nothingThere' in details &&
  details.nothingThere === true;
