import type { CatalogueView } from '../catalogue/reader.ts';
import { RevisionCache } from '../catalogue/revision-cache.ts';

/** Readers without a key share one view, and so do operators; the others are a view per tenant. */
const VIEWS_MAX = 16;

/** Derives a value once per view and revision of the catalogue; concurrent callers share it. */
export function byRevision<T>(
  derive: (view: CatalogueView) => T | Promise<T>,
): (view: CatalogueView) => Promise<T> {
  const made = new RevisionCache<T>(VIEWS_MAX, () => 1);
  return (view) => made.get(view.reader.id, view.revision, async () => derive(view));
}
