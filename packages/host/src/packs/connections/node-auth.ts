/** Sign-ins that nodes declare, checked at install: a node that could never sign in is refused. */
import type { NodePackManifest } from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import { SHARED } from '../../workflows/shared.ts';
import type { PackNode, VersionRecord } from '../pack-record.ts';
import type { PackRecords } from '../pack-records.ts';
import { installedProviders } from './connections.ts';
import { type InstalledProvider, isOAuth, resolveProvider, scopesOf } from './provider.ts';

/** The provider that a node signs in with, and the scopes that it needs. */
export interface NodeAuth {
  readonly provider: string;
  readonly scopes: readonly string[];
}

/** Actions use the sign-in of their connector, unless they declare their own. */
export function nodeAuth(
  { typeId, auth }: PackNode,
  connector: NodePackManifest['connector'],
): NodeAuth | undefined {
  if (auth) return { provider: auth.provider, scopes: auth.scopes ?? [] };
  const { type, provider, scopes = [] } = connector?.auth ?? {};
  const isAction = connector?.actions?.some((action) => action.typeId === typeId);
  return isAction && type === 'oauth2' && provider !== undefined ? { provider, scopes } : undefined;
}

/** The part of a pack that is about to be installed. */
export type Arriving = Pick<VersionRecord, 'name' | 'version' | 'declared' | 'nodes'>;

/** Providers may be in the same plan as the packs that need them. */
export async function refuseUnknownAuth(
  records: PackRecords,
  tenant: string,
  arriving: readonly Arriving[],
): Promise<void> {
  const asking = arriving.flatMap(({ nodes }) =>
    nodes.flatMap(({ typeId, needs }) => (needs?.auth ? [{ typeId, auth: needs.auth }] : [])),
  );
  if (asking.length === 0) return;
  const known = [...broughtBy(tenant, arriving), ...(await installedProviders(records, tenant))];
  for (const { typeId, auth } of asking)
    checkAuth(
      typeId,
      auth,
      known.filter(({ provider }) => provider.id === auth.provider),
    );
}

/** Providers that the packs of the plan describe. */
const broughtBy = (tenant: string, arriving: readonly Arriving[]): InstalledProvider[] =>
  arriving.flatMap(({ name: packName, version, declared }) =>
    declared?.kind === 'connection'
      ? [{ packName, version, shared: tenant === SHARED, provider: declared.provider }]
      : [],
  );

function checkAuth(typeId: string, auth: NodeAuth, candidates: readonly InstalledProvider[]): void {
  const resolution = resolveProvider(candidates);
  const details = { typeId, provider: auth.provider };
  if (resolution.source !== 'pack') {
    const code = resolution.source === 'none' ? resolution.code : 'connection_provider_unresolved';
    throw new OpenwopError(code, {
      message: `${typeId} signs in with ${auth.provider}: ${UNRESOLVED[code]}`,
      details: { ...details, ...('packs' in resolution && { packs: [...resolution.packs] }) },
    });
  }
  const { provider } = resolution.installed;
  if (!isOAuth(provider))
    throw new OpenwopError('oauth_provider_unsupported', {
      message: `${typeId} signs in with ${auth.provider}, which does not use OAuth. Use a stored credential instead.`,
      details,
    });
  const known = new Set(scopesOf(provider, ['read', 'write']));
  const scopes = auth.scopes.filter((scope) => !known.has(scope));
  if (scopes.length > 0)
    throw new OpenwopError('oauth_scope_unsupported', {
      message: `${typeId} asks for ${scopes.join(', ')}, which ${resolution.installed.packName} does not list for ${auth.provider}.`,
      details: { ...details, scopes },
    });
}

const UNRESOLVED = {
  connection_provider_unresolved:
    'no installed pack describes it. Install its connection pack first, or in the same plan.',
  connection_provider_conflict: 'several installed packs describe it. Uninstall all but one of them.',
} as const;

/** Records of OAuth clients, by provider. */
export const oauthClientKind = { kind: 'oauth-client', idPrefix: 'oac' } as const;

/** Warnings about OAuth clients that the pack needs and the operator has not configured. */
export async function missingClients(
  records: Pick<PackRecords, 'find'>,
  tenant: string,
  { declared, nodes }: Pick<Arriving, 'declared' | 'nodes'>,
): Promise<string[]> {
  const own = declared?.kind === 'connection' && isOAuth(declared.provider) ? [declared.provider.id] : [];
  const used = nodes.flatMap(({ needs }) => (needs?.auth ? [needs.auth.provider] : []));
  const missing: string[] = [];
  for (const id of new Set([...own, ...used]))
    if (!(await records.find(oauthClientKind, tenant, id))) missing.push(noClient(id));
  return missing;
}

const noClient = (provider: string): string =>
  `Nobody can connect ${provider}: no OAuth client is configured. Type: gantry connections configure ${provider} --client-id ID`;
