/** A run that has used all its retries, and a fork of it. */
import type { Api, Caller } from '@gantry/http';
import { OpenwopError, runOwnerOf } from '@gantry/protocol';
import Type from 'typebox';
import { createForks } from '../../runtime/fork.ts';
import type { ReadRun } from '../../runtime/runtime.ts';
import type { ApiDeps } from '../context.ts';
import { definition, node, seamId } from './definition.ts';
import type { Drive } from './drive.ts';
import { seam } from './seam.ts';

const Exhaust = Type.Object({ scenario: Type.Enum(['exhaust-retries', 'fork-after-dead-letter']) });

const failing = definition(seamId('exhaust'), [
  node('work', 'core.fail', { settings: { maxRetries: 2, backoffMs: 0 } }),
]);

export function deadLetterSeam(app: Api, deps: ApiDeps, drive: Drive): void {
  const { runtime, store, now, randomBytes, redactions } = deps;
  const prepareFork = createForks({ runs: store.runs, now, randomBytes, redactions }).prepare;

  async function isForkable(source: ReadRun, caller: Caller): Promise<boolean> {
    try {
      const changes = { owner: runOwnerOf(caller) };
      const fork = await prepareFork(source, { mode: 'branch', fromSeq: 1, changes });
      return (await runtime.adopt(fork)).kind === 'created';
    } catch (error) {
      if (error instanceof OpenwopError && error.status < 500) return false;
      throw error;
    }
  }

  seam(app, 'deadletter/exhaust', Exhaust, async (caller, { scenario }) => {
    const key = await drive.start(caller, [failing]);
    const run = await drive.atRest(key);
    const event = (await drive.events(key)).find(({ type }) => type === 'run.dead_lettered');
    const isFork = scenario === 'fork-after-dead-letter';
    return { ...(event && { event }), ...(isFork && { forkEligible: await isForkable(run, caller) }) };
  });
}
