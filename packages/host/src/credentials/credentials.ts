/**
 * Credentials as the host uses them. Each use reads the record anew, so revoking and rotating hold at once in every
 * process.
 */
import type { EgressCredential } from '@gantry/egress';
import { type CredentialKind, OpenwopError, type Owner } from '@gantry/protocol';
import { fromEntry } from '@gantry/resources';
import type { Logger } from 'pino';
import {
  accessOf,
  type CredentialVersion,
  contextOf,
  credentials,
  newest,
  parseRef,
  provenanceOf,
  type StoredCredential,
  versionOf,
} from './credential.ts';
import { CredentialService, type CredentialServiceOptions } from './credential-service.ts';
import type { ExternalStores } from './external-stores.ts';

export interface CredentialUse {
  /** Of the connection pack that the credential is used for. */
  readonly apiHosts?: readonly string[];
  /** For credentials of one run. */
  readonly runId?: string;
}

export interface Credentials {
  readonly service: CredentialService;
  /** To be sent, by the host alone. `ref` may name a version: `stripe@2`. */
  open(owner: Owner, ref: string, use?: CredentialUse): Promise<EgressCredential>;
}

/** Tokens of OAuth are renewed before they expire, and once when they are refused. */
export interface TokenRenewal {
  fresh(stored: StoredCredential): Promise<StoredCredential>;
  renewed(stored: StoredCredential): Promise<StoredCredential>;
}

export interface CredentialsOptions extends CredentialServiceOptions {
  readonly tokens: TokenRenewal;
  readonly stores: ExternalStores;
  readonly log: Logger;
}

/** A credential that its caller may use now, with the version that is meant. */
interface Found {
  readonly stored: StoredCredential;
  readonly version: CredentialVersion;
}

export function createCredentials(options: CredentialsOptions): Credentials {
  const { store, masterKey, redactions, stores, tokens, now, log } = options;

  async function find(owner: Owner, text: string, runId: string | undefined): Promise<Found> {
    const { ref, version } = parseRef(text);
    const entry = await store.entries.get({ kind: credentials.kind, tenant: owner.tenant, id: ref });
    if (!entry) throw new OpenwopError('credential_not_found');
    const stored = fromEntry(credentials, entry);
    if (!accessOf(owner, stored.record, runId)) throw new OpenwopError('credential_forbidden');
    const found = versionOf(stored.record, version, now());
    if (!found) throw new OpenwopError('credential_not_found');
    return { stored, version: found };
  }

  async function readValue({ stored, version: { version, material } }: Found): Promise<string> {
    const { tenant, id } = stored;
    const value =
      'sealed' in material
        ? masterKey.open(material.sealed, contextOf(stored, version))
        : await stores[material.store](tenant, material.name);
    if (value !== null) return value;
    const where = 'sealed' in material ? 'the master key does not open it' : `not in ${material.store}`;
    log.warn({ tenant, ref: id, where }, 'the value of a credential cannot be read');
    throw new OpenwopError('credential_unavailable', { details: { ref: id } });
  }

  async function sendable(found: Found, apiHosts: CredentialUse['apiHosts']): Promise<EgressCredential> {
    const { stored, version } = found;
    const { header, prefix, kind } = stored.record;
    const value = await readValue(found);
    for (const part of secretParts(kind, value)) redactions.note(stored.tenant, part, stored.id);
    const sent = kind === 'basic' ? Buffer.from(value).toString('base64') : value;
    return {
      provenance: provenanceOf(stored, version),
      header,
      value: `${prefix}${sent}`,
      ...(apiHosts && { apiHosts }),
    };
  }

  return {
    service: new CredentialService(options),
    async open(owner, ref, { apiHosts, runId } = {}) {
      const found = await find(owner, ref, runId);
      const current = isRenewed(found) ? withNewest(await tokens.fresh(found.stored)) : found;
      const sent = await sendable(current, apiHosts);
      if (!isRenewed(found)) return sent;
      const renew = async () => sendable(withNewest(await tokens.renewed(current.stored)), apiHosts);
      return { ...sent, renew };
    },
  };
}

/** A password may stand alone where it should not. */
const secretParts = (kind: CredentialKind, value: string): string[] => {
  const colon = value.indexOf(':');
  return kind === 'basic' && colon >= 0 ? [value, value.slice(colon + 1)] : [value];
};

/** A version that was named is sent as it is. */
const isRenewed = ({ stored, version }: Found): boolean =>
  stored.record.kind === 'oauth2' && version === newest(stored.record);

const withNewest = (stored: StoredCredential): Found => ({ stored, version: newest(stored.record) });
