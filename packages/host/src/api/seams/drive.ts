/** How seams drive runs: they admit, start, answer and read them in the same way as for any other run. */

import { firstInterrupt, type Resolver } from '@gantry/engine';
import type { Caller } from '@gantry/http';
import {
  eventDocJson,
  type Json,
  type JsonObject,
  OpenwopError,
  type RunEventDoc,
  runOwnerOf,
  type WorkflowDefinition,
} from '@gantry/protocol';
import type { RunKey } from '@gantry/store';
import type { NewRun, ReadRun } from '../../runtime/runtime.ts';
import { admit } from '../../workflows/admission.ts';
import type { ApiDeps } from '../context.ts';
import { readLog, type Waiting } from '../events.ts';
import { RESPOND_SCOPE } from '../interrupts.ts';

/** The maximum duration of a run of a seam; its own limit ends it. */
const RUN_MS = 10_000;
const GRACE_MS = 5_000;

export interface Drive {
  /** Registers the workflows for the caller's tenant and starts a run of the last one. */
  start(
    caller: Caller,
    workflows: readonly WorkflowDefinition[],
    inputs?: JsonObject,
    configurable?: JsonObject,
    more?: Pick<NewRun, 'advisoryBudget'>,
  ): Promise<RunKey>;
  /** Waits until the run has ended or waits for an answer. */
  atRest(key: RunKey): Promise<ReadRun>;
  /** Resolves the open interrupt of the run. The engine checks the resolver and counts the answer. */
  answer(key: RunKey, resumeValue: Json, by: Resolver): Promise<void>;
  /** Ends a run that still waits, so that a seam leaves no open runs. */
  close(key: RunKey): Promise<void>;
  /** The log as readers see it. */
  events(key: RunKey): Promise<RunEventDoc[]>;
}

/** A person with a key that may answer; these seams require such a key of their caller. */
export const resolver = (principal: string, roles: readonly string[] = []): Resolver => ({
  principal,
  roles,
  scopes: [RESPOND_SCOPE],
  authenticated: true,
});

export function createDrive({ runtime, workflows, store }: ApiDeps, waiting: Waiting): Drive {
  async function read(key: RunKey): Promise<ReadRun> {
    const found = await runtime.read(key);
    if (found === null) throw new OpenwopError('not_found');
    return found;
  }

  return {
    async start(caller, definitions, inputs = {}, configurable = {}, more = {}) {
      const { tenant } = caller;
      await workflows.registerAll(tenant, definitions);
      const run = await admit(workflows, runOwnerOf(caller), {
        workflowId: definitions.at(-1)!.id,
        inputs,
        tags: [],
        metadata: {},
        configurable: { ...configurable, runTimeoutMs: RUN_MS },
      });
      const created = await runtime.create({ ...run, ...more });
      if (created.kind !== 'created') throw new Error('a create without conditions came to nothing');
      return { tenant, runId: created.runId };
    },
    async atRest(key) {
      for (let last = -1; ; ) {
        // Subscribe before the read, so that a commit in between is not missed.
        const wait = waiting.start(key, last, RUN_MS + GRACE_MS);
        try {
          const found = await read(key);
          if (!isMoving(found)) return found;
          const newest = found.run.nextSeq - 1;
          if (newest === last) await wait.moved;
          if (newest === last && (await read(key)).run.nextSeq - 1 === last) throw stuck();
          last = newest;
        } finally {
          wait.stop();
        }
      }
    },
    async answer(key, resumeValue, by) {
      const open = firstInterrupt((await read(key)).run);
      if (open) await runtime.command(key, { type: 'resolve', nodeId: open.nodeId, resumeValue, by });
    },
    async close(key) {
      await runtime.command(key, { type: 'cancel', reason: 'the conformance seam is done with it' });
    },
    async events(key) {
      const log = await readLog(store, key, 0);
      return (log?.events ?? []).map((event) => JSON.parse(eventDocJson(key.runId, event)));
    },
  };
}

const isMoving = ({ snapshot: { status } }: ReadRun): boolean => status === 'pending' || status === 'running';

const stuck = (): OpenwopError =>
  new OpenwopError('service_unavailable', {
    message: 'The run that this seam drives did not come to rest in time.',
  });
