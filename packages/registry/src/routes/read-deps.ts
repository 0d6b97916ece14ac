import type { Store } from '@gantry/store';
import type { FastifyRequest } from 'fastify';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { CatalogueView, ReaderOf } from '../catalogue/reader.ts';
import type { AdvisoryFeed } from '../derived/advisory-feed.ts';
import type { KeyDirectory, RegistryProfile } from '../derived/discovery.ts';
import type { Search } from '../derived/search.ts';

interface Described {
  readonly profile: RegistryProfile;
  readonly directory: KeyDirectory;
  readonly now: () => number;
}

export interface ReadOptions extends Described {
  readonly catalogue: Catalogue;
  readonly readerOf: ReaderOf;
  readonly store: Pick<Store, 'entries' | 'commit'>;
}

/** Dependencies of the read routes. They get no catalogue but the sender's view of it. */
export interface ReadDeps extends Described {
  readonly view: (request: FastifyRequest) => CatalogueView;
  readonly search: Search;
  readonly advisories: AdvisoryFeed;
}
