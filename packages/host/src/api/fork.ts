import { OpenwopError } from '@gantry/protocol';
import Type from 'typebox';
import type { Api } from './context.ts';
import { RUN_URL, RunParams } from './runs.ts';

/** Forking is part of the protocol and not offered yet: that is said, not left to a 404. */
export function forkRoute(app: Api): void {
  app.post(
    `${RUN_URL}::fork`,
    { schema: { summary: 'Fork a run (not offered by this host)', params: RunParams, body: Type.Unknown() } },
    async () => {
      throw new OpenwopError('capability_not_provided', {
        message: 'This host does not provide the `replay` capability.',
        details: { capability: 'replay' },
      });
    },
  );
}
