/** `ctx.secrets.resolve`: the value of a credential, for code that has to send it itself. */
import { CREDENTIAL_SCOPES } from '@gantry/protocol';
import Type from 'typebox';
import { defineSurface, type ImplementedSurface, reads } from '../../calls/define-surface.ts';
import * as s from '../../calls/schema.ts';
import type { NodeFacts } from '../../calls/surface-call.ts';
import { overHost } from '../../open-port.ts';

/** The requesting node, and its principal. */
export type SecretReader = Pick<NodeFacts, 'owner' | 'runId' | 'nodeId' | 'pack'>;

export interface SecretsPort {
  /** The request is recorded before this answers. */
  resolve(
    reader: SecretReader,
    wanted: { readonly ref: string; readonly purpose: string },
  ): Promise<{ readonly plaintext: string; readonly expiresAt?: string; readonly rotatedAt?: string }>;
}

export const secretsSurface = defineSurface({
  capability: 'secrets',
  summary:
    'Values of credentials, for packs that call a service which the host does not call for them. Prefer ' +
    '`safeFetch(url, { credential: { ref } })`: then the code never has the value. A value is in no record, so a node ' +
    'that runs again resolves it anew; a call to the host whose arguments contain it is refused.',
  journal: 'own',
  limits: {},
  errors: [
    'secret_not_found',
    'secret_access_denied',
    'secret_revoked',
    'secret_expired',
    'secret_quota_exhausted',
    'connector_auth_expired',
    'connector_unavailable',
  ],
  opens: overHost('secrets', implementSecrets),
  methods: {
    resolve: reads(
      'The value of the credential `ref`. `purpose` says what for; it is kept with the run, the pack and the time.',
      { ref: s.text(256), purpose: Type.String({ minLength: 1, maxLength: 1_024, pattern: '\\S' }) },
      { plaintext: s.Text, expiresAt: s.optional(s.Timestamp), rotatedAt: s.optional(s.Timestamp) },
      { unrecorded: true },
    ),
  },
});

/** Clients of version 1.0 do not know the scope of a workspace. */
const ADVERTISED_SCOPES = CREDENTIAL_SCOPES.filter((scope) => scope !== 'workspace');

function implementSecrets(secrets: SecretsPort): ImplementedSurface {
  return secretsSurface.implement(
    {
      resolve: async (wanted, { owner, caller }) => {
        if (caller.kind !== 'node') throw new Error('only nodes resolve secrets');
        const { runId, nodeId, pack } = caller;
        return secrets.resolve({ owner, runId, nodeId, pack }, wanted);
      },
    },
    { advertises: { scopes: ADVERTISED_SCOPES, resolution: 'host-managed', resolveInPack: 'supported' } },
  );
}
