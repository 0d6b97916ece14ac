/**
 * `conformance.secret.echo`: resolves a secret like `ctx.secrets.resolve`. The public suite expects that one
 * exists, so a host that serves its seams creates it at the first use.
 */

import { hash } from 'node:crypto';
import { OpenwopError, type Owner } from '@gantry/protocol';
import { systemCaller } from '@gantry/resources';
import type { Executor } from '../runtime/outside-work.ts';
import { HOST_NAME, HOST_VERSION } from '../version.ts';
import type { Credentials } from './credentials.ts';

const CANARY_REF = 'openwop-conformance-canary-secret';

/** `canary`: its value; undefined if the seams are not served. */
export function secretEcho(credentials: Credentials, canary: string | undefined): Executor {
  return async ({ runId }, { nodeId, config }, _signal, { owner }) => {
    const ref = String(config.secretId);
    try {
      if (ref === CANARY_REF && canary !== undefined) await provide(credentials, owner, canary);
      const { value } = await credentials.reveal(owner, ref, {
        type: 'secret.resolved',
        purpose: 'conformance.secret.echo',
        runId,
        nodeId,
        pack: { name: HOST_NAME, version: HOST_VERSION },
      });
      const shown = { secretSha256: hash('sha256', value, 'hex'), secretLength: Buffer.byteLength(value) };
      return { ok: true, outputs: { ...shown, ...(config.echo === true && { echoed: value }) } };
    } catch (error) {
      if (!(error instanceof OpenwopError)) throw error;
      const { code, message } = error;
      return { ok: false, retryable: false, error: { code, message } };
    }
  };
}

async function provide({ service }: Credentials, { tenant }: Owner, value: string): Promise<void> {
  const caller = systemCaller('conformance', { tenant });
  try {
    await service.create(caller, { ref: CANARY_REF, value });
  } catch (error) {
    if (!(error instanceof OpenwopError) || error.code !== 'conflict') throw error;
  }
}
