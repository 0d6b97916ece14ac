/** The port of `ctx.secrets` and `ctx.http` to credentials. */
import { isoTime } from '@gantry/protocol';
import type { HttpCredentials, SecretsPort } from '@gantry/surfaces';
import { holdsSecret } from '../redaction/holds-secret.ts';
import type { Redactions } from '../redaction/redactions.ts';
import type { Settings } from '../settings.ts';
import type { Credentials } from './credentials.ts';

export const secretsPort = (credentials: () => Pick<Credentials, 'reveal'>): SecretsPort => ({
  async resolve({ tenant, workspace, principal, runId, nodeId, pack }, { ref, purpose }) {
    const owner = { tenant, workspace, principal };
    const use = { type: 'secret.resolved', purpose, runId, nodeId, pack } as const;
    const { value, expiresAt, rotatedAt } = await credentials().reveal(owner, ref, use);
    return {
      plaintext: value,
      ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }),
      ...(rotatedAt !== undefined && { rotatedAt: isoTime(rotatedAt) }),
    };
  },
});

export const httpCredentials = (
  credentials: () => Pick<Credentials, 'open'>,
  redactions: Pick<Redactions, 'of'>,
  { outOfAudience }: Pick<Settings, 'outOfAudience'>,
): HttpCredentials => ({
  open: ({ runId, ...owner }, ref, placement) =>
    credentials().open(owner, ref, { runId, ...(placement && { placement }) }),
  isIssued: (tenant, value) => holdsSecret(redactions.of(tenant), value),
  decisions: ['allowed', 'denied', ...(outOfAudience === 'downgrade' ? (['downgraded'] as const) : [])],
});
