/** All claims, in memory and in the store. Changes use the log, so that no two claims overlap. */
import type { Keychain, KeychainKey, TrustedKey } from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import type { Store, Write } from '@gantry/store';
import type { ChangeLog } from '../catalogue/change-log.ts';
import { deleteEntry, putEntry, readEntries } from '../catalogue/entries.ts';
import { isPublicName } from '../publish/address.ts';
import {
  type Claim,
  checkKey,
  checkNamespace,
  covers,
  excludes,
  mayPublish,
  overlap,
  restarted,
  rotated,
  trustedKey,
  vendorOf,
} from './claim.ts';

const CLAIM_KIND = 'registry-claim';
/** One entry per key id, so that no two namespaces use the same id. */
const KEY_KIND = 'registry-key';
/** Both catalogues share the claims. */
const TENANT = 'packs';
const PAGE = 500;
const CLAIMS_MAX = 10_000;
const CLAIM_CHANGES: ReadonlySet<string> = new Set(['claimed', 'claim-dropped', 'key-rotated']);

interface KnownClaim {
  readonly claim: Claim;
  readonly entryVersion: number;
}

interface ClaimsOptions {
  readonly store: Store;
  readonly changes: ChangeLog;
  readonly scopes: readonly string[];
  readonly now: () => number;
}

type ClaimRequest = Omit<Claim, 'claimedAt' | 'keys'> & { readonly key?: KeychainKey };

interface Claimant {
  readonly keyId: string;
  readonly isOperator: boolean;
}

interface ClaimOutcome {
  readonly outcome: 'created' | 'changed' | 'unchanged';
  readonly claim: Claim;
}

export class Claims {
  readonly #options: ClaimsOptions;
  readonly #claims = new Map<string, KnownClaim>();

  constructor(options: ClaimsOptions) {
    this.#options = options;
    options.changes.listen(async (changes) => {
      if (changes.some(({ type }) => CLAIM_CHANGES.has(type))) await this.load();
    });
  }

  async load(): Promise<void> {
    const { store } = this.#options;
    const entries = await readEntries(store, { kind: CLAIM_KIND, tenant: TENANT, page: PAGE });
    this.#claims.clear();
    for (const { id, body, version } of entries)
      this.#claims.set(id, { claim: JSON.parse(body), entryVersion: version });
  }

  /** By namespace. */
  all(): Claim[] {
    return [...this.#claims.values()]
      .map(({ claim }) => claim)
      .sort((left, right) => (left.namespace < right.namespace ? -1 : 1));
  }

  /** No two claims cover one name. */
  claimOf(name: string): Claim | undefined {
    for (const { claim } of this.#claims.values()) if (covers(claim, name)) return claim;
    return undefined;
  }

  trustedKeys(name: string): TrustedKey[] {
    const claim = this.claimOf(name);
    return claim === undefined ? [] : claim.keys.map((key) => trustedKey(claim, key));
  }

  keychainOf(name: string): Keychain | undefined {
    const claim = this.claimOf(name);
    return claim !== undefined && claim.keys.length > 0 ? claim : undefined;
  }

  /** Namespaces with private packs that the tenant may publish. */
  privateOf(tenant: string): Claim[] {
    return [...this.#claims.values()].flatMap(({ claim }) =>
      !isPublicName(claim.namespace) && mayPublish(claim, tenant) ? [claim] : [],
    );
  }

  /** A public key, and the namespace that it signs for. */
  keyOf(kid: string): (KeychainKey & Pick<Claim, 'namespace'>) | undefined {
    for (const { claim } of this.#claims.values()) {
      const key = claim.keys.find((each) => each.kid === kid);
      if (key !== undefined) return { ...key, namespace: claim.namespace };
    }
    return undefined;
  }

  refuseOutside(name: string, tenant: string): void {
    const claim = this.claimOf(name) ?? this.#rivalOf(name, tenant);
    if (claim !== undefined && mayPublish(claim, tenant)) return;
    throw new OpenwopError('forbidden', {
      message:
        // The existence of a private name must not be revealed to others
        !isPublicName(name)
          ? `${name} is in no namespace of your tenant. Claim one for it, or ask its owner.`
          : claim === undefined
            ? `${name} is not claimed. Claim its namespace, then publish.`
            : `${claim.namespace} is claimed by another tenant. Ask its owner, or publish under a namespace of your own.`,
      details: { name },
    });
  }

  /** Whether the first publish of this name may reserve it. */
  isFree(name: string, tenant: string): boolean {
    const isKnown = this.claimOf(name) !== undefined || this.#rivalOf(name, tenant) !== undefined;
    return !isKnown && vendorOf(name) !== undefined;
  }

  /** Claims all of `vendor.<org>`, or only the name if its account has claimed other parts of it. */
  async reserve(name: string, owner: string, keyId: string): Promise<void> {
    const vendor = vendorOf(name);
    if (vendor === undefined || this.claimOf(name) !== undefined) return;
    const isPart = this.all().some(({ namespace }) => vendorOf(namespace) === vendor);
    const namespace = isPart ? name : `${vendor}.*`;
    await this.claim({ namespace, owner, publishers: [] }, { keyId, isOperator: false });
  }

  #rivalOf(name: string, tenant: string): Claim | undefined {
    return this.all().find((claim) => claim.owner !== tenant && excludes(claim.namespace, name));
  }

  /** Creates or changes a claim. Repeating the same claim changes nothing. */
  claim(request: ClaimRequest, by: Claimant): Promise<ClaimOutcome> {
    checkNamespace(request.namespace, this.#options.scopes);
    if (request.key !== undefined) checkKey(request.key);
    return this.#options.changes.write<ClaimOutcome>(async () => {
      const known = this.#claims.get(request.namespace);
      const widened = this.#refuseTaken(request, by);
      const before = widened.length === 0 ? known?.claim : mergedClaim(request, [known, ...widened]);
      const claim = claimAfter(request, before, by, this.#options.now());
      if (JSON.stringify(claim) === JSON.stringify(known?.claim))
        return { kind: 'nothing', result: { outcome: 'unchanged', claim } };
      const added = claim.keys.slice(before?.keys.length ?? 0);
      const outcome = known === undefined ? 'created' : 'changed';
      const replaced = widened.map(({ claim }) => claim.namespace);
      return this.#proposal('claimed', by.keyId, claim, added, { outcome, claim }, replaced);
    });
  }

  /** Releases a namespace. `isUsed` returns whether anything is published there. */
  drop(namespace: string, by: string, isUsed: (claim: Claim) => boolean): Promise<Claim> {
    return this.#options.changes.write(async () => {
      const known = this.#claims.get(namespace);
      if (known === undefined)
        throw new OpenwopError('not_found', { message: `${namespace} is not claimed.` });
      if (isUsed(known.claim))
        throw new OpenwopError('conflict', {
          message: `Packs are published under ${namespace}, and its keys verify them. Give it to another owner instead.`,
        });
      return {
        kind: 'change' as const,
        change: { type: 'claim-dropped' as const, name: namespace, by },
        writes: [this.#deletion(known)],
        apply: () => void this.#claims.delete(namespace),
        result: known.claim,
      };
    });
  }

  rotate(name: string, next: KeychainKey, by: string): Promise<Claim> {
    return this.#options.changes.write(async () => {
      const known = this.claimOf(name);
      if (known === undefined) throw new OpenwopError('not_found');
      const claim = rotated(known, next, this.#options.now());
      return this.#proposal('key-rotated', by, claim, claim.keys.slice(-1), claim);
    });
  }

  /** The claims that this one replaces: an operator may widen a claim, and assign it to another owner. */
  #refuseTaken({ namespace, owner }: ClaimRequest, { isOperator }: Claimant): KnownClaim[] {
    const others = [...this.#claims.values()].filter(
      ({ claim }) =>
        claim.namespace !== namespace &&
        (claim.owner === owner ? overlap(claim.namespace, namespace) : excludes(claim.namespace, namespace)),
    );
    const same = this.#claims.get(namespace)?.claim;
    const isWiden = isOperator && others.every(({ claim }) => isPartOf(claim, namespace, owner));
    const taken = same && same.owner !== owner && !isOperator ? same : isWiden ? undefined : others[0]?.claim;
    if (taken !== undefined)
      throw new OpenwopError('conflict', {
        // A narrower one may be the name of a private pack
        ...(isOperator || isPublicName(namespace)
          ? {
              message: `${namespace} overlaps ${taken.namespace}, which is already claimed.`,
              details: { namespace: taken.namespace },
            }
          : { message: `${namespace} overlaps a namespace that is already claimed.` }),
      });
    if (this.#claims.size >= CLAIMS_MAX)
      throw new OpenwopError('conflict', { message: `The registry has ${CLAIMS_MAX} claims, the maximum.` });
    return others;
  }

  #deletion({ claim, entryVersion }: KnownClaim): Write {
    return deleteEntry({ kind: CLAIM_KIND, tenant: TENANT, id: claim.namespace }, entryVersion);
  }

  #proposal<T>(
    type: 'claimed' | 'key-rotated',
    by: string,
    claim: Claim,
    added: readonly KeychainKey[],
    result: T,
    replaced: readonly string[] = [],
  ) {
    const { namespace } = claim;
    const entryVersion = this.#claims.get(namespace)?.entryVersion ?? 0;
    for (const { kid } of added) this.#refuseKnownKey(kid);
    const now = this.#options.now();
    const put = (kind: string, id: string, body: object, expectedVersion: number | null): Write =>
      putEntry({ kind, tenant: TENANT, id }, body, { now, expectedVersion });
    return {
      kind: 'change' as const,
      change: { type, name: namespace, owner: claim.owner, by },
      writes: [
        put(CLAIM_KIND, namespace, claim, entryVersion || null),
        ...added.map(({ kid }) => put(KEY_KIND, kid, { namespace }, null)),
        ...replaced.map((each) => this.#deletion(this.#claims.get(each)!)),
      ],
      apply: () => {
        for (const each of replaced) this.#claims.delete(each);
        this.#claims.set(namespace, { claim, entryVersion: entryVersion + 1 });
      },
      result,
    };
  }

  #refuseKnownKey(kid: string): void {
    if (this.keyOf(kid) !== undefined)
      throw new OpenwopError('conflict', {
        message: `The key id ${kid} is already in use. Choose another one.`,
      });
  }
}

const isPartOf = (claim: Claim, namespace: string, owner: string): boolean =>
  claim.owner === owner && namespace.endsWith('.*') && claim.namespace.startsWith(namespace.slice(0, -1));

/** One claim with the keys of all, oldest first: they still verify earlier signatures. */
function mergedClaim(
  { key: _, ...request }: ClaimRequest,
  parts: readonly (KnownClaim | undefined)[],
): Claim {
  const claims = parts.flatMap((part) => (part ? [part.claim] : []));
  const keys = claims.flatMap((claim) => claim.keys);
  const claimedAt = claims.map((claim) => claim.claimedAt).sort()[0]!;
  return { ...request, keys: keys.sort((a, b) => (a.validFrom < b.validFrom ? -1 : 1)), claimedAt };
}

/** The first key starts the keychain. Only the operator can restart it, if the last key is lost. */
function claimAfter(
  { key, ...request }: ClaimRequest,
  before: Claim | undefined,
  by: Claimant,
  now: number,
): Claim {
  const keys = before?.keys ?? [];
  const claim = { ...request, keys, claimedAt: before?.claimedAt ?? new Date(now).toISOString() };
  const isKnown = keys.some(({ kid, publicKey }) => kid === key?.kid && publicKey === key?.publicKey);
  if (key === undefined || isKnown) return claim;
  if (keys.length > 0 && !by.isOperator)
    throw new OpenwopError('conflict', {
      message: `${request.namespace} already has a key. Rotate it, with a proof signed by that key.`,
    });
  return { ...claim, keys: restarted(keys, key, now) };
}
