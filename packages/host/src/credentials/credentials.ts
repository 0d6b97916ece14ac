/**
 * Credentials as the host uses them. Each use reads the record again, so revocation and rotation take effect
 * immediately in every process.
 */
import type { EgressCredential } from '@gantry/egress';
import { OpenwopError, type Owner } from '@gantry/protocol';
import { ResourceService, readRecord } from '@gantry/resources';
import type { Parts } from '../parts.ts';
import type { ScopesOf } from '../principals.ts';
import type { GivenSecrets } from '../redaction/given-secrets.ts';
import type { Redactions } from '../redaction/redactions.ts';
import { acts } from './act.ts';
import { credentials, newest, provenanceOf, type StoredCredential, secretParts } from './credential.ts';
import { type CredentialServices, credentialResource } from './credential-service.ts';
import { storedValue } from './external-stores.ts';
import { type Found, found, type Lookup, missed } from './lookup.ts';
import { requiredCredential } from './requirement.ts';
import { createReveal, type Revealed, type Revealing } from './reveal.ts';

export interface CredentialUse {
  /** Hosts of the connection pack that the credential is used for. */
  readonly apiHosts?: readonly string[];
  /** For credentials of one run. */
  readonly runId?: string;
  /** The header in which it is sent, instead of the stored one. */
  readonly placement?: { readonly header: string; readonly prefix: string };
}

export type CredentialReach = Pick<EgressCredential, 'provenance' | 'apiHosts'>;

/** OAuth tokens are renewed before they expire, and once when they are rejected. */
export interface TokenRenewal {
  fresh(stored: StoredCredential): Promise<StoredCredential>;
  renewed(stored: StoredCredential): Promise<StoredCredential>;
  /** The current hosts of its connection pack; null for tokens without a connection. */
  apiHostsOf(stored: StoredCredential): Promise<readonly string[] | null>;
}

export interface CredentialsOptions extends CredentialServices, Pick<Parts, 'changes' | 'log'> {
  readonly given: Pick<GivenSecrets, 'give'>;
  readonly redactions: Pick<Redactions, 'note' | 'keep'>;
  readonly tokens: TokenRenewal;
  readonly scopesOf: ScopesOf;
}

const CODES = {
  missing: 'credential_not_found',
  forbidden: 'credential_forbidden',
  abandoned: 'credential_forbidden',
  revoked: 'credential_not_found',
  ended: 'credential_not_found',
} as const;

type Chosen = Pick<Found, 'stored' | 'version'>;

export type Credentials = ReturnType<typeof createCredentials>;

export function createCredentials(options: CredentialsOptions) {
  const { store, changes, redactions, tokens, now, scopesOf } = options;
  const kept = <D>(services: D) => ({ changes, entries: store.entries, now, services });
  const readValue = valueReader(options);
  const reveal = createReveal({ ...options, readValue });

  const find = (lookup: Lookup) =>
    found(
      {
        read: (id) => readRecord(store.entries, credentials, lookup.owner.tenant, id),
        runs: store.runs,
        scopesOf,
        now: now(),
      },
      lookup,
    );

  async function sendable(
    chosen: Chosen,
    { apiHosts, placement }: Pick<CredentialUse, 'apiHosts' | 'placement'>,
  ): Promise<EgressCredential> {
    const { stored, version } = chosen;
    const { kind } = stored.record;
    const { header, prefix } = placement ?? stored.record;
    const value = await readValue(chosen);
    for (const part of secretParts(kind, value))
      redactions.note(stored.tenant, part, stored.id, version.version);
    const sent = kind === 'basic' ? Buffer.from(value).toString('base64') : value;
    return {
      provenance: provenanceOf(stored, version),
      header,
      value: `${prefix}${sent}`,
      ...(apiHosts && { apiHosts }),
    };
  }

  return {
    service: new ResourceService(credentialResource, kept<CredentialServices>(options)),
    acts: new ResourceService(acts, kept(undefined)),
    /** The credential that a node requires by its own name for it. */
    required: requiredCredential(store, now),
    /** Deletes values that pack code received and that no run holds any longer. */
    /** For requests that only the host sends. `ref` may name a version: `stripe@2`. */
    async open(owner: Owner, ref: string, use: CredentialUse = {}): Promise<EgressCredential> {
      const one = await find({ owner, ref, runId: use.runId });
      if ('not' in one) throw missed(CODES, one);
      if (!isRenewed(one)) return sendable(one, use);
      const apiHosts = use.apiHosts ?? (await tokens.apiHostsOf(one.stored));
      const bound = { ...use, ...(apiHosts && { apiHosts }) };
      const current = withNewest(await tokens.fresh(one.stored));
      const renew = async () => sendable(withNewest(await tokens.renewed(current.stored)), bound);
      return { ...(await sendable(current, bound)), renew };
    },
    /** The destinations of a credential. Null if it may not be sent any longer. */
    async reach(tenant: string, id: string): Promise<CredentialReach | null> {
      const stored = await readRecord(store.entries, credentials, tenant, id);
      if (!stored || stored.record.revokedAt !== undefined) return null;
      const apiHosts = stored.record.kind === 'oauth2' ? await tokens.apiHostsOf(stored) : null;
      return { provenance: provenanceOf(stored, newest(stored.record)), ...(apiHosts && { apiHosts }) };
    },
    /** For pack code: see `reveal.ts`. */
    async reveal(owner: Owner, ref: string, use: Revealing): Promise<Revealed> {
      const one = await find({ owner, ref, runId: use.runId });
      // A change has no external effects, so a token is renewed before it
      if ('stored' in one && isRenewed(one)) await tokens.fresh(one.stored);
      return reveal(owner, ref, use);
    },
  };
}

const valueReader =
  (options: CredentialsOptions) =>
  async (chosen: Chosen): Promise<string> => {
    const value = await storedValue(options, chosen);
    if (value !== null) return value;
    const { tenant, id } = chosen.stored;
    options.log.warn({ tenant, ref: id }, 'the value of a credential cannot be read; gantry doctor says why');
    throw new OpenwopError('credential_unavailable', { details: { ref: id } });
  };

/** A version that was named explicitly is not renewed. */
const isRenewed = ({ stored, version }: Chosen): boolean =>
  stored.record.kind === 'oauth2' && version === newest(stored.record);

const withNewest = (stored: StoredCredential): Chosen => ({ stored, version: newest(stored.record) });
