import { OpenwopError } from '@gantry/protocol';
import { ARCHIVE_LIMITS } from '../archive/limits.ts';
import { jsonOf } from '../json.ts';
import { readAdvisories, type SecurityAdvisory } from '../trust/advisory.ts';
import { permits, type TrustedKey } from '../trust/keys.ts';
import {
  type Discovery,
  readDiscovery,
  readKeychain,
  readPackIndex,
  readPackNames,
  readServed,
  versionManifestOf,
} from './documents.ts';
import {
  type CopyableRegistry,
  checkAsked,
  isVersion,
  type PackIndex,
  type Registry,
  type RegistryDocument,
} from './registry.ts';
import { trustedKeys } from './registry-keys.ts';

/** The location of the documents of a registry: behind HTTP or in a folder. */
export interface DocumentSource {
  /** Another prefix of document addresses, besides the registry's own address and that of the registry it mirrors. */
  readonly declaredUrl?: string | undefined;
  /** Undefined if there is no such document; throws `pack_registry_unreachable` if that cannot be determined. */
  read(path: string, bytesMax: number): Promise<Uint8Array | undefined>;
  /** The stored versions, for a registry without an index. */
  versions?(name: string): Promise<readonly string[]>;
  /** The stored packs, likewise. */
  packs?(): Promise<readonly string[]>;
}

/** The operator's settings for a registry. */
export interface RegistryTerms {
  /** The operator's keys for this registry. If set, keys that the registry lists are not trusted. */
  readonly roots?: readonly TrustedKey[] | undefined;
  /** The registry that it mirrors. Its documents may contain addresses of that registry. */
  readonly mirrorOf?: string | undefined;
}

interface DocumentRegistryOptions extends RegistryTerms, Pick<Registry, 'url' | 'reach'> {
  readonly source: DocumentSource;
}

const KIB = 1024;
const DOCUMENT_BYTES_MAX = 4 * KIB * KIB;
/** Enough for a registry with some fifty thousand packs. */
const REGISTRY_INDEX_BYTES_MAX = 64 * KIB * KIB;
const KEY_BYTES_MAX = 8 * KIB;
const KEYS_MAX = 100;

const place = (bytesMax: number, ...paths: readonly string[]) => ({ bytesMax, paths });

/** The default paths of the protocol, for a registry whose discovery has none. */
const ENDPOINTS = {
  registryIndex: place(REGISTRY_INDEX_BYTES_MAX, '/v1/index.json'),
  packMetadata: place(DOCUMENT_BYTES_MAX, '/v1/packs/{name}', '/v1/packs/{name}/index.json'),
  versionManifest: place(512 * KIB, '/v1/packs/{name}/-/{version}.json'),
  versionTarball: place(ARCHIVE_LIMITS.archiveBytesMax, '/v1/packs/{name}/-/{version}.tgz'),
  versionSignature: place(64 * KIB, '/v1/packs/{name}/-/{version}.sig'),
};
const PLACES = {
  ...ENDPOINTS,
  discovery: place(DOCUMENT_BYTES_MAX, '/.well-known/openwop-registry', '/.well-known/openwop-registry.json'),
  keychain: place(DOCUMENT_BYTES_MAX, '/v1/packs/{name}/-/keychain'),
  advisories: place(DOCUMENT_BYTES_MAX, '/security/advisories.json'),
};
type Place = keyof typeof PLACES;

const isEndpoint = (place: Place): place is keyof typeof ENDPOINTS => Object.hasOwn(ENDPOINTS, place);

/** An address with a scheme or a server. */
const ELSEWHERE = /^[a-z][a-z0-9+.-]*:|^\/\//i;

interface Asked {
  readonly name?: string;
  readonly version?: string;
}

/** A registry over its documents. Discovery and keys are read once; failed reads are retried. */
export class DocumentRegistry implements CopyableRegistry {
  readonly url: string;
  readonly mirrorOf: string | undefined;
  readonly reach: Registry['reach'];
  readonly #source: DocumentSource;
  readonly #roots: readonly TrustedKey[] | undefined;
  readonly #once = new Map<string, Promise<unknown>>();

  constructor({ url, reach, source, roots, mirrorOf }: DocumentRegistryOptions) {
    this.url = url.replace(/\/+$/, '');
    this.mirrorOf = mirrorOf;
    this.reach = reach;
    this.#source = source;
    this.#roots = roots;
  }

  async list(): Promise<readonly string[]> {
    const lying = await this.#source.packs?.();
    if (lying !== undefined) return lying;
    const bytes = await this.#read('registryIndex');
    if (bytes === undefined) this.#notARegistry('it serves no index of its packs, /v1/index.json');
    return readPackNames(bytes) ?? this.#notARegistry('its index of packs is not readable');
  }

  async index(name: string): Promise<PackIndex | undefined> {
    const bytes = await this.#read('packMetadata', { name });
    if (bytes === undefined) return this.#listed(name);
    return readPackIndex(name, bytes) ?? this.#notARegistry(`its index of ${name} is not readable`);
  }

  async manifest(name: string, version: string): ReturnType<Registry['manifest']> {
    const bytes = await this.#read('versionManifest', { name, version });
    if (bytes === undefined) return undefined;
    const [path = ''] = await this.#paths('versionTarball', { name, version });
    return versionManifestOf({ name, version }, readServed(bytes), this.url + path);
  }

  archive(name: string, version: string): Promise<Uint8Array | undefined> {
    return this.#fetch('versionTarball', { name, version });
  }

  signature(name: string, version: string): Promise<Uint8Array | undefined> {
    return this.#fetch('versionSignature', { name, version });
  }

  async keys(name: string, keyId?: string): Promise<readonly TrustedKey[]> {
    const [listed, bytes] = await Promise.all([
      this.#listedKeys(name, keyId),
      this.#read('keychain', { name }),
    ]);
    const keychain =
      bytes && (readKeychain(bytes) ?? this.#notARegistry(`its keychain of ${name} is not readable`));
    return trustedKeys(name, { listed, registryUrl: this.url, roots: this.#roots, keychain });
  }

  /** A feed that cannot be read completely is refused: missing advisories would look like safety. */
  advisories(): Promise<readonly SecurityAdvisory[]> {
    return this.#remember('advisories', async () => {
      const bytes = await this.#read('advisories');
      if (bytes === undefined) return [];
      const { advisories, unreadable } = readAdvisories(jsonOf(bytes));
      if (unreadable > 0) this.#notARegistry(`${unreadable} of its security advisories are not readable`);
      return advisories;
    });
  }

  document(document: RegistryDocument): Promise<Uint8Array | undefined> {
    if (document.of === 'publicKey') {
      const { url } = document;
      return this.#remember(`key ${url}`, () => this.#source.read(this.#pathOf(url), KEY_BYTES_MAX));
    }
    const { of, ...asked } = document;
    return this.#read(of, asked);
  }

  async #listed(name: string): Promise<PackIndex | undefined> {
    const versions = (await this.#source.versions?.(name)) ?? [];
    if (versions.length === 0) return undefined;
    const manifests = await Promise.all(
      versions.filter(isVersion).map((version) => this.manifest(name, version)),
    );
    return {
      name,
      versions: manifests.flatMap((found) => (found ? [{ version: found.version, ...found.record }] : [])),
    };
  }

  #discovery(): Promise<Discovery> {
    return this.#remember('discovery', async () => {
      const bytes = await this.#read('discovery');
      if (bytes === undefined) return {};
      return readDiscovery(bytes) ?? this.#notARegistry('its discovery document is not readable');
    });
  }

  /** A registry may list thousands of keys; only those relevant to the pack are fetched. */
  async #listedKeys(name: string, keyId: string | undefined): Promise<readonly TrustedKey[]> {
    if (this.#roots !== undefined) return [];
    const { signingKeys = [] } = await this.#discovery();
    const concerned = signingKeys
      .filter((key) => key.keyId === keyId || permits(key.permittedNamespaces, name))
      .slice(0, KEYS_MAX);
    const keys = concerned.map(async ({ publicKeyUrl, ...key }) => {
      const bytes = await this.document({ of: 'publicKey', url: publicKeyUrl });
      // A key without its bytes is skipped; the other keys are still used.
      return bytes === undefined ? [] : [{ ...key, publicKey: Buffer.from(bytes).toString('utf8') }];
    });
    return (await Promise.all(keys)).flat();
  }

  async #paths(place: Place, { name, version }: Asked): Promise<readonly string[]> {
    if (name !== undefined) checkAsked(name, version);
    const declared = isEndpoint(place) ? (await this.#discovery()).endpoints?.[place] : undefined;
    const templates = declared === undefined ? PLACES[place].paths : [this.#pathOf(declared)];
    return templates.map((template) =>
      template
        .replaceAll('{name}', encodeURIComponent(name ?? ''))
        .replaceAll('{version}', encodeURIComponent(version ?? '')),
    );
  }

  /**
   * The path for an address in a document. Templates keep their braces, so this compares text. A path from the root
   * of the server may or may not include the path of the registry.
   */
  #pathOf(address: string): string {
    const urls = [this.url, this.mirrorOf, this.#source.declaredUrl];
    const own = urls.find((url) => url && address.startsWith(`${url}/`));
    if (own !== undefined) return address.slice(own.length);
    if (ELSEWHERE.test(address)) this.#notARegistry(`it refers to ${address}, which is not part of it`);
    const path = address.startsWith('/') ? address : `/${address}`;
    const mount = URL.canParse(this.url) ? new URL(this.url).pathname.replace(/\/$/, '') : '';
    return mount !== '' && path.startsWith(`${mount}/`) ? path.slice(mount.length) : path;
  }

  async #read(place: Place, asked: Asked = {}): Promise<Uint8Array | undefined> {
    for (const path of await this.#paths(place, asked)) {
      const bytes = await this.#source.read(path, PLACES[place].bytesMax);
      if (bytes !== undefined) return bytes;
    }
    return undefined;
  }

  async #fetch(place: Place, asked: Asked): Promise<Uint8Array | undefined> {
    try {
      return await this.#read(place, asked);
    } catch (error) {
      if (!(error instanceof OpenwopError) || error.code !== 'pack_registry_unreachable') throw error;
      throw new OpenwopError('pack_fetch_failed', {
        message: error.message,
        details: { registry: this.url },
      });
    }
  }

  #remember<T>(key: string, read: () => Promise<T>): Promise<T> {
    const known = this.#once.get(key) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const reading = read();
    this.#once.set(key, reading);
    reading.catch(() => this.#once.delete(key));
    return reading;
  }

  #notARegistry(why: string): never {
    throw new OpenwopError('pack_registry_unreachable', {
      message: `${this.url} does not answer as a registry should: ${why}. Report it to its operator.`,
      details: { registry: this.url },
    });
  }
}
