/**
 * Publishes a version. The first check that fails is reported: address, scope, body, gzip, tar, manifest,
 * integrity, namespace and signature, conflict. Outside the test namespace the claim is checked before the body.
 *
 * I1  No archive is held in memory as a whole: the body is written to disk and read from there.
 * I2  The archive is stored before the commit that refers to it. After a crash in between, the archive is
 *     unreferenced, and the sweep deletes it.
 * I3  The commit decides: of two publishes of the same bytes one creates the version, the other finds it.
 */
import { type Caller, HOST_ADMIN, liveTenant } from '@gantry/http';
import { limiter } from '@gantry/limiter';
import type { ArchiveLimits, SigstoreTrust } from '@gantry/packs';
import { given, isoTime, type JsonObject, OpenwopError } from '@gantry/protocol';
import { refuseMissingScope, refuseTestKey } from '../access.ts';
import type { Provenance, PublishedVersion } from '../catalogue/catalogue.ts';
import type { StoreCatalogue, VersionAddress, VersionDecision } from '../catalogue/store-catalogue.ts';
import type { VersionState } from '../catalogue/version-entry.ts';
import type { Claims } from '../keychain/claims.ts';
import type { ArchiveStorage, SpooledArchive } from '../storage/storage.ts';
import { checkAddress, isPublicName } from './address.ts';
import { type ArrivalTerms, arriving } from './arrival.ts';
import { type Inspection, inspectArchive } from './inspect-archive.ts';
import { type JudgedManifest, judgeManifest } from './judge-manifest.ts';
import { judgeSigning } from './judge-signing.ts';

interface PublisherOptions {
  readonly storage: ArchiveStorage;
  readonly claims: Claims;
  readonly limits: ArchiveLimits;
  /** Accepted scopes, such as `vendor`. */
  readonly scopes: readonly string[];
  readonly acceptsUnsigned: boolean;
  readonly sigstore: SigstoreTrust | undefined;
  readonly keyName: (caller: Caller) => Promise<string>;
  readonly now: () => number;
  readonly arrival: ArrivalTerms;
}

export interface PublishRequest extends VersionAddress {
  readonly caller: Caller;
  /** Undefined if the body cannot be an archive. */
  readonly body: AsyncIterable<Uint8Array> | undefined;
  readonly claimedIntegrity: string | undefined;
  readonly claimedMethod: string | undefined;
  readonly detachedSignature: Buffer | undefined;
  readonly userAgent: string | undefined;
  readonly build: JsonObject | undefined;
}

interface PublishOutcome {
  readonly outcome: 'created' | 'unchanged';
  readonly published: PublishedVersion;
}

interface Judged extends JudgedManifest {
  readonly inspection: Inspection;
}

/** Each publish holds one file of its archive in memory. */
const AT_ONCE_MAX = 32;
const TENANT_AT_ONCE_MAX = 8;
const RETRY_SECONDS = 2;

export class Publisher {
  readonly #options: PublisherOptions;
  readonly #slots = limiter({ max: AT_ONCE_MAX, perTenantMax: TENANT_AT_ONCE_MAX });

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  async publish(catalogue: StoreCatalogue, request: PublishRequest): Promise<PublishOutcome> {
    checkAddress(request, this.#options.scopes);
    refuseMissingScope(request.caller, 'packs:publish');
    refuseTestKey(catalogue.name, request.caller);
    // In the test namespace, the protocol requires errors of the archive to be reported first
    if (catalogue.name === 'packs') this.#refuseOutside(catalogue, request);
    if (request.body === undefined) throw new OpenwopError('invalid_body');
    const release = this.#slots.tryAcquire(request.caller.tenant);
    if (release === undefined)
      throw new OpenwopError('service_unavailable', { headers: { 'retry-after': String(RETRY_SECONDS) } });
    try {
      const { storage, limits, arrival } = this.#options;
      const archive = await storage.spool(arriving(request.body, arrival), limits.archiveBytesMax);
      try {
        return await this.#publishSpooled(catalogue, request, archive);
      } finally {
        await archive.discard();
      }
    } finally {
      release();
    }
  }

  async #publishSpooled(
    catalogue: StoreCatalogue,
    request: PublishRequest,
    archive: SpooledArchive,
  ): Promise<PublishOutcome> {
    const judged = await this.#judge(catalogue, request, archive);
    const known = await catalogue.version(request.name, request.version);
    // Before the signature, so that a retry succeeds even if the key was rotated meanwhile.
    if (known?.integrity === archive.integrity) {
      await this.#keepMissing(archive);
      return { outcome: 'unchanged', published: known };
    }
    const published = await this.#prove(request, archive, judged);
    if (catalogue.name === 'packs') await this.#reserve(request);
    // A known conflict is not stored first.
    if (known === undefined) await archive.keep();
    const outcome = await catalogue.change(request, request.caller.keyId, (state) =>
      decide(state, published),
    );
    await this.#keepMissing(archive);
    return outcome;
  }

  /** Stores the archive again if a concurrent sweep deleted it or the storage lost it. */
  async #keepMissing(archive: SpooledArchive): Promise<void> {
    if (!(await this.#options.storage.has(archive.integrity))) await archive.keep();
  }

  async #judge(catalogue: StoreCatalogue, request: PublishRequest, archive: SpooledArchive): Promise<Judged> {
    const { limits } = this.#options;
    if (archive.bytes === 0) throw new OpenwopError('invalid_body', { message: 'The body is empty.' });
    const inspection = await inspectArchive(archive.read(), limits);
    const judged = judgeManifest(inspection, request);
    refuseOtherIntegrity(request.claimedIntegrity, archive.integrity);
    this.#refuseOutside(catalogue, request);
    return { inspection, ...judged };
  }

  /** Vendor names without an owner are available to the first publisher. */
  #refuseOutside(catalogue: StoreCatalogue, { name, caller: { scopes, tenant } }: PublishRequest): void {
    const { claims } = this.#options;
    const mayReserve = catalogue.name === 'packs' && claims.isFree(name, liveTenant(tenant));
    // A private pack needs an owner that may read it; otherwise the next account that claims the name could.
    const mayAlways = scopes.has(HOST_ADMIN) && (isPublicName(name) || claims.claimOf(name) !== undefined);
    if (!mayAlways && !mayReserve) claims.refuseOutside(name, liveTenant(tenant));
  }

  /** An operator also publishes for others, so its publishes reserve no names. */
  async #reserve({ name, caller: { scopes, tenant, keyId } }: PublishRequest): Promise<void> {
    const { claims } = this.#options;
    if (scopes.has(HOST_ADMIN)) return;
    await claims.reserve(name, liveTenant(tenant), keyId).catch(() => {
      // Another account was first
      claims.refuseOutside(name, liveTenant(tenant));
    });
  }

  async #prove(
    request: PublishRequest,
    archive: SpooledArchive,
    { inspection, manifest, source }: Judged,
  ): Promise<PublishedVersion> {
    const { limits, claims, acceptsUnsigned, sigstore, now } = this.#options;
    const signing = await judgeSigning({
      manifest,
      inspection,
      archive,
      limits,
      acceptsUnsigned,
      sigstore,
      claimedMethod: request.claimedMethod,
      detached: request.detachedSignature,
      keys: claims.trustedKeys(request.name),
      now: now(),
    });
    return {
      name: manifest.name,
      version: manifest.version,
      kind: manifest.kind,
      manifest: source,
      integrity: archive.integrity,
      archiveBytes: archive.bytes,
      ...signing,
      files: [...inspection.traces.keys()].sort(),
      revertedYanks: [],
      provenance: await this.#provenance(request),
    };
  }

  async #provenance({ caller, userAgent, build }: PublishRequest): Promise<Provenance> {
    const { keyName, now } = this.#options;
    return {
      publishedAt: isoTime(now()),
      publishedBy: { keyId: caller.keyId, name: await keyName(caller) },
      ...given({ userAgent: userAgent?.slice(0, 256), build }),
    };
  }
}

function refuseOtherIntegrity(claimed: string | undefined, integrity: string): void {
  if (claimed === undefined || claimed === integrity) return;
  throw new OpenwopError('pack_integrity_failure', {
    message: 'X-Pack-Sha256 does not match the received archive. Send it again.',
    details: { claimed: claimed.slice(0, 128), computed: integrity },
  });
}

/** I3. A version never gets other bytes, even after it was unpublished. */
function decide(
  state: VersionState | undefined,
  published: PublishedVersion,
): VersionDecision<PublishOutcome> {
  const known = state?.state === 'published' ? state.published.integrity : state?.integrity;
  if (known !== undefined && known !== published.integrity)
    throw new OpenwopError('conflict', {
      message: `${published.name}@${published.version} was published with other content. Choose a new version.`,
      details: { publishedIntegrity: known, integrity: published.integrity },
    });
  if (state?.state === 'published')
    return { kind: 'keep', result: { outcome: 'unchanged', published: state.published } };
  return {
    kind: 'write',
    type: 'published',
    state: { state: 'published', published },
    result: { outcome: 'created', published },
  };
}
