import { type Egress, EgressError, type EgressRequest, type EgressTerms } from '@gantry/egress';
import { OpenwopError } from '@gantry/protocol';
import type { TrustedKey } from '../trust/keys.ts';
import { DocumentRegistry, type DocumentSource } from './document-registry.ts';
import type { CopyableRegistry } from './registry.ts';

export interface HttpRegistryOptions {
  /** Base address; a `/v1` at its end is taken off, since paths bring it. */
  readonly url: string;
  readonly egress: Egress;
  /** Keys of the operator for this registry; then the registry's own word for keys counts no more. */
  readonly roots?: readonly TrustedKey[];
  /** The registry that it is a copy of, whose addresses its documents may hold. */
  readonly mirrorOf?: string;
  /** For private packs. Egress sends it to no other server, also when this one redirects there. */
  readonly key?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const TIMEOUT_MS = 30_000;
/** Storage behind a registry is reached by redirects; each hop is judged by the egress policy. */
const REDIRECTS_MAX = 3;
const ABSENT: ReadonlySet<number> = new Set([404, 410]);

/** A registry behind HTTP, reached through the egress guard. */
export function openHttpRegistry({
  url,
  egress,
  timeoutMs = TIMEOUT_MS,
  signal,
  key,
  ...keys
}: HttpRegistryOptions): CopyableRegistry {
  const base = url.replace(/\/+$/, '').replace(/\/v1$/, '');
  return new DocumentRegistry({
    url: base,
    reach: 'network',
    source: httpSource([base, ...(keys.mirrorOf === undefined ? [] : [keys.mirrorOf])], egress, {
      timeoutMs,
      ...(signal && { signal }),
      ...(key !== undefined && { headers: { authorization: `Bearer ${key}` } }),
    }),
    ...keys,
  });
}

const httpSource = (
  [base, ...copied]: readonly [string, ...string[]],
  egress: Egress,
  terms: EgressTerms & Pick<EgressRequest, 'headers'>,
): DocumentSource => ({
  async read(path, bytesMax) {
    const options = { ...terms, maxResponseBytes: bytesMax, redirects: REDIRECTS_MAX };
    const { status, body } = await egress.request(base + path, options).catch((error: unknown) => {
      if (error instanceof EgressError) throw unreachable(base, `is not reached: ${error.message}`);
      throw error;
    });
    if (status === 200) return body;
    if (ABSENT.has(status)) return undefined;
    if (status === 401) throw unreachable(base, 'refuses the key. Check GANTRY_REGISTRY_KEY.');
    throw unreachable(base, `answers ${status} for ${path}.`);
  },

  /**
   * Only what lies under the registry's own address, or that of the registry it copies, is the registry. Templates keep their braces, so this
   * compares text. A path from the root of the server may or may not repeat the path of the registry.
   */
  pathOf(address) {
    const own = [base, ...copied].find((url) => address.startsWith(`${url}/`));
    if (own !== undefined) return address.slice(own.length);
    if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(address))
      throw unreachable(base, `redirects to ${address}, which is another server.`);
    const rooted = address.startsWith('/') ? address : `/${address}`;
    const mount = new URL(base).pathname.replace(/\/$/, '');
    return mount !== '' && rooted.startsWith(`${mount}/`) ? rooted.slice(mount.length) : rooted;
  },
});

const unreachable = (registry: string, why: string): OpenwopError =>
  new OpenwopError('pack_registry_unreachable', {
    message: `The registry ${registry} ${why}`,
    details: { registry },
  });
