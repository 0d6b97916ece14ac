/** What `ctx.secrets` asks of credentials. */
import { ownerOf } from '@gantry/protocol';
import type { SecretsPort } from '@gantry/surfaces';
import type { Credentials } from './credentials.ts';

const isoTime = (at: number): string => new Date(at).toISOString();

export const secretsPort = (credentials: () => Pick<Credentials, 'reveal'>): SecretsPort => ({
  async resolve({ tenant, workspace, principal, runId, nodeId, pack }, { ref, purpose }) {
    // Empty texts stand for what the run does not say
    const owner = ownerOf({ tenant, workspace: workspace || null, principal: principal || null });
    const use = { type: 'secret.resolved', purpose, runId, nodeId, pack } as const;
    const { value, expiresAt, rotatedAt } = await credentials().reveal(owner, ref, use);
    return {
      plaintext: value,
      ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }),
      ...(rotatedAt !== undefined && { rotatedAt: isoTime(rotatedAt) }),
    };
  },
});
