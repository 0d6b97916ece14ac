import type { Store } from '@gantry/store';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { AdvisoryFeed } from '../derived/advisory-feed.ts';
import type { KeyDirectory, RegistryProfile } from '../derived/discovery.ts';
import type { Search } from '../derived/search.ts';

/** Dependencies of the read routes. */
export interface ReadOptions {
  readonly catalogue: Catalogue;
  readonly profile: RegistryProfile;
  readonly directory: KeyDirectory;
  readonly store: Pick<Store, 'entries' | 'commit'>;
  readonly now: () => number;
}

/** The same with what the routes share. */
export interface ReadDeps extends ReadOptions {
  readonly search: Search;
  readonly advisories: AdvisoryFeed;
}
