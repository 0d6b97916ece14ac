/**
 * `core.conformance.side-effect`: the smallest effect that leaves the process. Each effect adds one
 * line to `side-effects.log` in the data folder, outside the database.
 */
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import type { EffectOutcome } from '@gantry/engine';
import type { InvocationLog } from './invocation-log.ts';
import type { Executor } from './outside-work.ts';

export function sideEffectExecutor(dataDir: string, log: InvocationLog): Executor {
  const file = path.join(dataDir, 'side-effects.log');

  const act = async (line: string): Promise<EffectOutcome> => {
    await appendFile(file, line);
    return { ok: true, outputs: {} };
  };

  return async (key, execution, signal) => {
    const { nodeId, config, ordinalBase } = execution;
    const effects = typeof config.effects === 'number' ? config.effects : 1;
    for (let n = 0; n < effects; n++) {
      signal.throwIfAborted();
      const ordinal = ordinalBase + n;
      const outcome = await log.perform(
        { ...key, nodeId, ordinal, providerKey: 'side-effect', idempotent: config.idempotent === true },
        (invocationId) => act(`${JSON.stringify({ invocationId, runId: key.runId, nodeId, ordinal })}\n`),
      );
      if (!outcome.ok) return outcome;
    }
    return { ok: true, outputs: { effects } };
  };
}
