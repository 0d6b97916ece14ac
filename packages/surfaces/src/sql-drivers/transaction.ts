/** What is known about a transaction on a server when something goes wrong. */
import { stopwatch } from '../deadline.ts';
import type { SqlLimits } from '../ports/sql.ts';
import { inDoubt, isRefusal, late } from './errors.ts';

export interface Progress {
  phase: 'working' | 'committing';
}

/** Before the commit was asked for, a lost server means that nothing was kept. After it, nobody knows. */
export async function watched<T>(name: string, run: (progress: Progress) => Promise<T>): Promise<T> {
  const progress: Progress = { phase: 'working' };
  try {
    return await run(progress);
  } catch (error) {
    const isLost = isRefusal(error) && error.code === 'storage_unavailable';
    throw isLost && progress.phase === 'committing' ? inDoubt(name, error) : error;
  }
}

/** One after the other; what fails says which it was. Servers bound each statement, and this all of them together. */
export async function inOrder<S, T>(
  statements: readonly S[],
  limits: SqlLimits,
  run: (statement: S) => Promise<T>,
): Promise<T[]> {
  const isOver = stopwatch(limits.timeoutMs);
  const results: T[] = [];
  for (const [operation, statement] of statements.entries()) {
    if (isOver()) throw late(limits);
    const result = run(statement).catch((error) => Promise.reject(Object.assign(error, { operation })));
    results.push(await result);
  }
  return results;
}

const TRIES_MAX = 3;

/** A transaction that gave way to another is begun again. */
export async function tried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const gaveWay = isRefusal(error) && error.details?.reason === 'conflict';
      if (!gaveWay || attempt === TRIES_MAX) throw error;
    }
  }
}
