import type { Store } from '@gantry/store';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { AdvisoryBoard } from '../derived/advisory-board.ts';
import type { KeyDirectory, RegistryProfile } from '../derived/discovery.ts';
import type { Search } from '../derived/search.ts';

/** What the registry hands over. */
export interface ReadOptions {
  readonly catalogue: Catalogue;
  readonly profile: RegistryProfile;
  readonly directory: KeyDirectory;
  readonly store: Pick<Store, 'entries' | 'commit'>;
  readonly now: () => number;
}

/** What the routes that only read share: made once, so that each thing is derived once. */
export interface ReadDeps extends ReadOptions {
  readonly search: Search;
  readonly advisories: AdvisoryBoard;
}
