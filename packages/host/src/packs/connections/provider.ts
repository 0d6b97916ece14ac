/** Which description of a provider is used, its consent steps, and where its credentials may be sent. */
import { compareVersions, type Provider } from '@gantry/packs';

/** A provider that an installed pack describes. */
export interface InstalledProvider {
  readonly packName: string;
  readonly version: string;
  /** Installed by the operator for every tenant. */
  readonly shared: boolean;
  readonly provider: Provider;
}

export type Resolution =
  | { readonly source: 'pack'; readonly installed: InstalledProvider }
  | { readonly source: 'builtin'; readonly version: string }
  | { readonly source: 'none'; readonly code: 'connection_provider_unresolved' }
  | {
      readonly source: 'none';
      readonly code: 'connection_provider_conflict';
      /** All packs that describe it. */
      readonly packs: readonly string[];
    };

/**
 * `candidates` describe the requested provider, in the order of installation, last first. Packs of the tenant come
 * before those of the operator. The last installed version of a pack is used; two packs that describe the same
 * provider are a conflict, since each could send people to other addresses. A pack replaces a built-in provider
 * unless it is older.
 */
export function resolveProvider(
  candidates: readonly InstalledProvider[],
  builtInVersion?: string,
): Resolution {
  const own = candidates.filter(({ shared }) => !shared);
  const [first, ...others] = own.length > 0 ? own : candidates;
  if (!first)
    return builtInVersion === undefined
      ? { source: 'none', code: 'connection_provider_unresolved' }
      : { source: 'builtin', version: builtInVersion };
  const rivals = others.filter(({ packName }) => packName !== first.packName);
  if (rivals.length > 0) return conflict([first, ...rivals]);
  if (builtInVersion !== undefined && compareVersions(first.version, builtInVersion) < 0)
    return conflict([first]);
  return { source: 'pack', installed: first };
}

const conflict = (installed: readonly InstalledProvider[]): Resolution => ({
  source: 'none',
  code: 'connection_provider_conflict',
  packs: installed.map(({ packName, version }) => `${packName}@${version}`),
});

export type ScopeAccess = 'read' | 'write';

export interface ConsentStep {
  readonly includesWrite: boolean;
  readonly groups: readonly {
    readonly key: string;
    readonly label: string;
    readonly access: ScopeAccess;
    readonly scopes: readonly string[];
  }[];
}

/** One step for read access; write access is always a separate step after it. */
export function consentPlan({ auth }: Provider, requested: readonly ScopeAccess[]): ConsentStep[] {
  if (auth.kind !== 'oauth2') return [];
  const step = (access: ScopeAccess): ConsentStep => ({
    includesWrite: access === 'write',
    groups: (auth.scopes?.[access] ?? []).map((group) => ({ ...group, access })),
  });
  const read = requested.includes('read') ? [step('read')] : [];
  const write = requested.includes('write') ? [step('write')] : [];
  // Read access needs consent even without scopes; write access without scopes needs no step.
  return [...read, ...write.filter(({ groups }) => groups.length > 0)];
}

/** The groups of scopes that the pack lists for these kinds of access. */
export const scopeGroups = ({ auth }: Provider, access: readonly ScopeAccess[]) =>
  access.flatMap((kind) => auth.scopes?.[kind] ?? []);

/** Whether this host can run the sign-in; with `manual`, people provide the token themselves. */
export const isOAuth = ({ auth }: Provider): boolean =>
  auth.kind === 'oauth2' && auth.authFlow !== 'manual' && auth.authFlow !== 'none';

/** Every scope that the pack lists for these kinds of access. */
export const scopesOf = (provider: Provider, access: readonly ScopeAccess[]): string[] => [
  ...new Set(scopeGroups(provider, access).flatMap(({ scopes }) => scopes)),
];

export type EgressVerdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly code: 'no_api_hosts' | 'egress_host_not_allowed' };

/** Credentials are sent only to the hosts that the pack lists, and to their subdomains. */
export function egressVerdict({ apiHosts = [] }: Provider, requestHost: string): EgressVerdict {
  if (apiHosts.length === 0) return { allowed: false, code: 'no_api_hosts' };
  const host = requestHost.toLowerCase();
  const isListed = apiHosts.some((entry) => host === entry || host.endsWith(`.${entry}`));
  return isListed ? { allowed: true } : { allowed: false, code: 'egress_host_not_allowed' };
}
