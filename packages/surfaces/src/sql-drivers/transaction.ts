/** What is known about a transaction on a server when something goes wrong. */
import { inDoubt, isRefusal, unavailable } from './errors.ts';

export interface Progress {
  phase: 'working' | 'committing' | 'given up';
}

/**
 * Before the commit was asked for, a lost server means that nothing was kept. After it, nobody knows. Work that was
 * given up must not commit any more: its caller was told so.
 */
export async function watched<T>(
  name: string,
  run: (progress: Progress, onSilence: () => Error) => Promise<T>,
): Promise<T> {
  const progress: Progress = { phase: 'working' };
  const onSilence = (): Error => {
    if (progress.phase === 'committing') return inDoubt(name, undefined);
    progress.phase = 'given up';
    return silent(name);
  };
  try {
    return await run(progress, onSilence);
  } catch (error) {
    const isLost = isRefusal(error) && error.code === 'storage_unavailable';
    throw isLost && progress.phase === 'committing' ? inDoubt(name, error) : error;
  }
}

export const silent = (name: string): Error => unavailable(name, undefined, 'no answer');

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
