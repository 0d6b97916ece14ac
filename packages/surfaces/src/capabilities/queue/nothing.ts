/** Refuses an empty lease of a waiting consumer, so that nothing of it is recorded. Threads load this file. */
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
