/**
 * The keys that came with packs of other registries. They are served as they were there, so that whoever trusts the
 * other registry verifies the copies with the same keys.
 *
 * I1  A key id means one key here: one that is known with other bytes is refused, never replaced.
 */
import { type Keychain, type KeychainKey, permits, readPublicKey, type TrustedKey } from '@gantry/packs';
import type { Entry, EntryKey, Store } from '@gantry/store';
import type { ChangeLog } from '../catalogue/change-log.ts';
import { readEntries } from '../catalogue/entry-pages.ts';
import type { NamespaceAssignment } from '../derived/discovery.ts';
import { overlap } from '../keychain/claim.ts';

const KIND = 'registry-mirror';
const TENANT = 'packs';
const PAGE = 100;
/** `a.b.*` names an organisation; `a.*` would take a whole scope from everybody else. */
const ORGANISATION = /^[^.]+\.[^.]+\./;

export interface MirroredKey extends TrustedKey {
  readonly algorithm: string;
  readonly operator?: string;
}

/** What one other registry says of keys and namespaces. */
export interface KeyListing {
  readonly keys: readonly MirroredKey[];
  readonly assignments: readonly NamespaceAssignment[];
  readonly keychains: readonly Keychain[];
}

export interface RefusedKey {
  readonly keyId: string;
  readonly reason: string;
}

export interface KeepOptions {
  readonly source: string;
  readonly listing: KeyListing;
  /** A part of the other registry leaves what is known of the rest. */
  readonly isPart: boolean;
  /** Keys that were claimed here. */
  readonly ownKey: (keyId: string) => KeychainKey | undefined;
}

interface Known {
  readonly listing: KeyListing;
  readonly entryVersion: number;
}

const EMPTY: KeyListing = { keys: [], assignments: [], keychains: [] };

export interface MirroredKeysOptions {
  readonly store: Pick<Store, 'entries'>;
  readonly changes: ChangeLog;
  readonly now: () => number;
}

export class MirroredKeys {
  readonly #options: MirroredKeysOptions;
  #sources = new Map<string, Known>();

  constructor(options: MirroredKeysOptions) {
    this.#options = options;
    options.changes.listen(async (changes) => {
      if (changes.some(({ type }) => type === 'keys-mirrored')) await this.load();
    });
  }

  async load(): Promise<void> {
    const { store } = this.#options;
    const entries = await readEntries(store, { kind: KIND, tenant: TENANT, page: PAGE });
    this.#sources = new Map(entries.map((entry) => [entry.id, knownOf(entry)]));
  }

  /** By id; where two registries list one, the namespaces of both and the less trusting word count. */
  keys(): MirroredKey[] {
    const keys = new Map<string, MirroredKey>();
    for (const key of this.#all(({ keys: listed }) => listed)) {
      const other = keys.get(key.keyId);
      keys.set(key.keyId, other === undefined ? key : joined(other, key));
    }
    return [...keys.values()].sort((left, right) => (left.keyId < right.keyId ? -1 : 1));
  }

  assignments(): NamespaceAssignment[] {
    const byNamespace = this.#all(({ assignments }) => assignments).map(
      (assignment) => [assignment.namespace, assignment] as const,
    );
    return [...new Map(byNamespace).values()];
  }

  key(keyId: string): MirroredKey | undefined {
    return this.keys().find((key) => key.keyId === keyId);
  }

  keysFor(name: string): MirroredKey[] {
    return this.keys().filter(({ permittedNamespaces }) => permits(permittedNamespaces, name));
  }

  keychainOf(name: string): Keychain | undefined {
    return this.#all(({ keychains }) => keychains).find(({ namespace }) => permits([namespace], name));
  }

  /** The registry whose keys sign for names that the namespace covers. */
  sourceOf(namespace: string): string | undefined {
    for (const [source, { listing }] of this.#sources) {
      const patterns = [
        ...listing.keys.flatMap(({ permittedNamespaces }) => permittedNamespaces),
        ...listing.assignments.map((assignment) => assignment.namespace),
      ];
      if (patterns.some((pattern) => ORGANISATION.test(pattern) && overlap(pattern, namespace)))
        return source;
    }
    return undefined;
  }

  /** Answers the keys that were left out. */
  keep({ source, listing, isPart, ownKey }: KeepOptions): Promise<readonly RefusedKey[]> {
    return this.#options.changes.write(async () => {
      const known = this.#sources.get(source);
      const refused = listing.keys.filter((key) => this.#isTaken(source, key, ownKey));
      const kept = { ...listing, keys: listing.keys.filter((key) => !refused.includes(key)) };
      const after = isPart ? merged(known?.listing ?? EMPTY, kept) : kept;
      const result = refused.map(({ keyId }) => ({
        keyId,
        reason: `a key of that name is known here with other bytes. What it signed is not copied.`,
      }));
      if (JSON.stringify(after) === JSON.stringify(known?.listing)) return { kind: 'nothing', result };
      const entryVersion = known?.entryVersion ?? 0;
      return {
        kind: 'change',
        change: { type: 'keys-mirrored', name: source, by: 'mirror' },
        writes: [
          { kind: 'putEntry', entry: this.#entry(source, after), expectedVersion: entryVersion || null },
        ],
        apply: () => void this.#sources.set(source, { listing: after, entryVersion: entryVersion + 1 }),
        result,
      };
    });
  }

  #entry(source: string, listing: KeyListing) {
    const key: EntryKey = { kind: KIND, tenant: TENANT, id: source };
    const blank = { ref: null, dueAt: null, expiresAt: null, createdAt: this.#options.now() };
    return { ...key, ...blank, body: JSON.stringify(listing) };
  }

  /** I1. */
  #isTaken(source: string, key: MirroredKey, ownKey: KeepOptions['ownKey']): boolean {
    const elsewhere = [...this.#sources]
      .filter(([other]) => other !== source)
      .flatMap(([, { listing }]) => listing.keys)
      .find(({ keyId }) => keyId === key.keyId);
    const other = ownKey(key.keyId) ?? elsewhere;
    return other !== undefined && !isSameKey(other.publicKey, key.publicKey);
  }

  #all<T>(list: (listing: KeyListing) => readonly T[]): T[] {
    return [...this.#sources.values()].flatMap(({ listing }) => list(listing));
  }
}

const knownOf = ({ body, version }: Entry): Known => ({
  listing: JSON.parse(body),
  entryVersion: version,
});

const TRUST_ORDER = ['active', 'retired', 'revoked'] as const;

function joined(left: MirroredKey, right: MirroredKey): MirroredKey {
  const worse = Math.max(TRUST_ORDER.indexOf(left.status), TRUST_ORDER.indexOf(right.status));
  return {
    ...left,
    permittedNamespaces: [...new Set([...left.permittedNamespaces, ...right.permittedNamespaces])],
    status: TRUST_ORDER[worse] ?? 'revoked',
  };
}

function merged(before: KeyListing, after: KeyListing): KeyListing {
  const join = <T>(of: (listing: KeyListing) => readonly T[], id: (item: T) => string): T[] => [
    ...new Map([...of(before), ...of(after)].map((item) => [id(item), item])).values(),
  ];
  return {
    keys: join(
      ({ keys }) => keys,
      ({ keyId }) => keyId,
    ),
    assignments: join(
      ({ assignments }) => assignments,
      ({ namespace }) => namespace,
    ),
    keychains: join(
      ({ keychains }) => keychains,
      ({ namespace }) => namespace,
    ),
  };
}

function isSameKey(left: string, right: string): boolean {
  const [one, other] = [readPublicKey(left), readPublicKey(right)];
  return one !== undefined && other !== undefined && one.equals(other);
}
