/** Derives a value once per revision of the catalogue; concurrent callers share it. */
import type { Catalogue } from '../catalogue/catalogue.ts';

export function byRevision<T>(
  catalogue: Pick<Catalogue, 'revision'>,
  derive: () => T | Promise<T>,
): () => Promise<T> {
  let made: { readonly revision: number; readonly value: Promise<T> } | undefined;
  return () => {
    const { revision } = catalogue;
    if (made?.revision === revision) return made.value;
    const current = { revision, value: Promise.resolve().then(derive) };
    made = current;
    // A failure reaches those who wait for it; the next call tries again.
    current.value.catch(() => {
      if (made === current) made = undefined;
    });
    return current.value;
  };
}
