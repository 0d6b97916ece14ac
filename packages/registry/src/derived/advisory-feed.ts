/**
 * The feed of security advisories.
 *
 * I1  An advisory is accepted only if every affected version is yanked; the refusal names those that are not.
 * I2  The day of first publication never changes; everything else may be corrected.
 * I3  An advisory about a private pack names no other pack, so it is shown as a whole or not at all.
 */
import { invalid, OpenwopError } from '@gantry/protocol';
import type { Entry, EntryKey, Store } from '@gantry/store';
import type { Catalogue, PublishedVersion } from '../catalogue/catalogue.ts';
import { putEntry, readEntries } from '../catalogue/entries.ts';
import type { Reader } from '../catalogue/reader.ts';
import { isPublicName } from '../publish/address.ts';
import { affectedVersions, type PublishedAdvisory } from './advisory.ts';

const KIND = 'registry-advisory';
const ADVISORIES_MAX = 10_000;
const PAGE = 500;
/** Advisories published by other processes appear after this time. */
const REMEMBERED_MS = 5_000;
const NAMED_MAX = 50;

interface AdvisoryFeedOptions {
  readonly store: Pick<Store, 'entries' | 'commit'>;
  readonly catalogue: Catalogue;
  readonly now: () => number;
}

const adviceOf = (entry: Entry): PublishedAdvisory => JSON.parse(entry.body);

export class AdvisoryFeed {
  readonly #options: AdvisoryFeedOptions;
  #remembered:
    | { readonly until: number; readonly advisories: Promise<readonly PublishedAdvisory[]> }
    | undefined;

  constructor(options: AdvisoryFeedOptions) {
    this.#options = options;
  }

  /** By id. */
  async seenBy(reader: Reader): Promise<readonly PublishedAdvisory[]> {
    return (await this.#all()).filter(({ affected }) =>
      affected.every(({ packName }) => reader.sees(packName)),
    );
  }

  #all(): Promise<readonly PublishedAdvisory[]> {
    const now = this.#options.now();
    if (this.#remembered !== undefined && now < this.#remembered.until) return this.#remembered.advisories;
    const advisories = this.#load();
    const remembered = { until: now + REMEMBERED_MS, advisories };
    this.#remembered = remembered;
    advisories.catch(() => {
      if (this.#remembered === remembered) this.#remembered = undefined;
    });
    return advisories;
  }

  /** Publishes or corrects an advisory. Publishing the same again changes nothing. */
  async publish(advisory: PublishedAdvisory): Promise<'created' | 'corrected' | 'unchanged'> {
    const { store, catalogue, now } = this.#options;
    refusePrivateAmongOthers(advisory);
    refuseUnlessYanked(await affectedVersions(catalogue, advisory));
    const key: EntryKey = { kind: KIND, tenant: catalogue.name, id: advisory.id };
    const entry = await store.entries.get(key);
    if (entry?.body === JSON.stringify(advisory)) return 'unchanged';
    if (entry === null) await this.#refuseTooMany();
    else refuseOtherDay(adviceOf(entry), advisory);
    const more = { now: entry?.createdAt ?? now(), expectedVersion: entry?.version ?? null };
    const [result] = await store.commit([[putEntry(key, advisory, more)]]);
    this.#remembered = undefined;
    if (result?.won !== true)
      throw new OpenwopError('conflict', {
        message: `${advisory.id} was changed at the same time. Read the feed, then send it again.`,
      });
    return entry === null ? 'created' : 'corrected';
  }

  async #load(): Promise<readonly PublishedAdvisory[]> {
    const { store, catalogue } = this.#options;
    const entries = await readEntries(store, { kind: KIND, tenant: catalogue.name, page: PAGE });
    return entries.map(adviceOf).reverse();
  }

  async #refuseTooMany(): Promise<void> {
    const { store, catalogue } = this.#options;
    if ((await store.entries.count(KIND, catalogue.name)) >= ADVISORIES_MAX)
      throw new OpenwopError('conflict', {
        message: `The feed has ${ADVISORIES_MAX} advisories, the maximum.`,
      });
  }
}

/** I3. */
function refusePrivateAmongOthers({ affected }: PublishedAdvisory): void {
  const names = new Set(affected.map(({ packName }) => packName));
  const hidden = [...names].find((name) => !isPublicName(name));
  if (hidden === undefined || names.size === 1) return;
  throw invalid(
    `${hidden} is private, and an advisory about it cannot name other packs. Publish one for each pack.`,
  );
}

function refuseUnlessYanked(versions: readonly PublishedVersion[]): void {
  const served = versions
    .filter(({ yank }) => yank === undefined)
    .map(({ name, version }) => `${name}@${version}`);
  if (served.length === 0) return;
  const named = served.slice(0, NAMED_MAX);
  throw new OpenwopError('conflict', {
    message: `Affected versions are not yanked: ${named.join(', ')}. Yank them first.`,
    details: { notYanked: named, notYankedCount: served.length },
  });
}

function refuseOtherDay(before: PublishedAdvisory, after: PublishedAdvisory): void {
  if (before.publishedAt === after.publishedAt) return;
  throw new OpenwopError('conflict', {
    message: `${before.id} was published on ${before.publishedAt}; \`publishedAt\` cannot change. Use \`updatedAt\`.`,
  });
}
