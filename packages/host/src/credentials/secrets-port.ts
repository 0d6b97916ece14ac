/** The port of `ctx.secrets` and `ctx.http` to credentials. */
import { isoTime } from '@gantry/protocol';
import type { HttpCredentials, SecretsPort } from '@gantry/surfaces';
import { holdsSecret } from '../redaction/holds-secret.ts';
import type { Settings } from '../settings.ts';
import { type CarriedSecretsOptions, carriedSecrets } from './carried-secrets.ts';
import type { Credentials } from './credentials.ts';

export const secretsPort = (credentials: Pick<Credentials, 'reveal'>): SecretsPort => ({
  async resolve({ owner, runId, nodeId, pack }, { ref, purpose }) {
    const use = { type: 'secret.resolved', purpose, runId, nodeId, pack } as const;
    const { value, expiresAt, rotatedAt } = await credentials.reveal(owner, ref, use);
    return {
      plaintext: value,
      ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }),
      ...(rotatedAt !== undefined && { rotatedAt: isoTime(rotatedAt) }),
    };
  },
});

interface HttpCredentialsOptions extends CarriedSecretsOptions {
  readonly credentials: Pick<Credentials, 'open' | 'reach'>;
  readonly settings: Pick<Settings, 'outOfAudience'>;
}

export const httpCredentials = (options: HttpCredentialsOptions): HttpCredentials => ({
  open: ({ owner, runId }, ref, placement) =>
    options.credentials.open(owner, ref, { runId, ...(placement && { placement }) }),
  isIssued: (tenant, value) => holdsSecret(options.redactions.of(tenant), value),
  inspect: carriedSecrets(options),
  decisions:
    options.settings.outOfAudience === 'downgrade'
      ? ['allowed', 'denied', 'downgraded']
      : ['allowed', 'denied'],
});
