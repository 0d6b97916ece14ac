/** An envelope that nodes wait for is taken once, and the node that took it keeps it. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { completed } from '@gantry/ai';
import { ownerOf } from '@gantry/protocol';
import { EMPTY_REDACTOR } from '@gantry/protocol/redaction';
import { Changes, type NodeCaller } from '@gantry/resources';
import { CommitPipeline, type EntryReads, type Store } from '@gantry/store';
import { backends } from '../../../resources/src/testing/backends.ts';
import { Envelopes, runReceiver } from './envelopes.ts';

const TENANT = 't';
const KIND = 'prd.create';

for (const { name, skip, open, remove } of await backends())
  describe(`envelopes on ${name}`, { skip }, () => {
    let store: Store;
    let epoch = 0;
    before(async () => {
      store = await open();
      epoch = await store.leases.acquire('process', Date.now(), 600_000);
    });
    after(async () => {
      await store.close();
      await remove();
    });

    const callerOf = (runId: string, nodeId: string): NodeCaller => ({
      kind: 'node',
      ...ownerOf({ tenant: TENANT }),
      actor: runId,
      call: { invocationId: `${runId}/${nodeId}`, runId, nodeId },
      epoch,
      tell: async () => null,
    });

    /** A process of its own; `turn` comes after it has looked for what is open. */
    const processOf = (turn: () => Promise<void> = async () => {}): Envelopes => {
      const pipeline = new CommitPipeline(store);
      const changes = new Changes({ store, pipeline, now: Date.now, randomBytes });
      const entries: EntryReads = Object.create(store.entries, {
        list: {
          value: async (...asked: Parameters<EntryReads['list']>) => {
            const found = await store.entries.list(...asked);
            await turn();
            return found;
          },
        },
      });
      return new Envelopes(changes, entries);
    };

    const sent = async (runId: string, nodeId: string): Promise<void> => {
      const about = { runId, nodeId, envelopeId: `env_${nodeId}`, at: Date.now() };
      const document = completed({ type: KIND, payload: { from: nodeId } }, about);
      const terms = { envelopeType: KIND, counts: {}, redactor: EMPTY_REDACTOR, trust: 'trusted' } as const;
      const receiving = { runId, nodeId, receiver: runReceiver(terms) };
      const { outcome } = await processOf().receive(callerOf(runId, nodeId), document, receiving);
      assert.equal(outcome.status, 'accepted', JSON.stringify(outcome));
    };

    test('one that was taken since it was seen is passed over for the next', async () => {
      await sent('two', 'a');
      await sent('two', 'b');
      const before = async () => {
        await processOf().take(callerOf('two', 'v'), 'two', KIND);
      };
      const taken = await processOf(before).take(callerOf('two', 'w'), 'two', KIND);
      assert.deepEqual(taken?.payload, { from: 'b' });
    });

    test('a node that runs again gets the envelope that it took, also when no other is left', async () => {
      await sent('three', 'a');
      const caller = callerOf('three', 'w');
      const taken = await processOf().take(caller, 'three', KIND);
      assert.deepEqual(taken?.payload, { from: 'a' });
      assert.deepEqual(await processOf().take(caller, 'three', KIND), taken);
      assert.equal(await processOf().take(callerOf('three', 'v'), 'three', KIND), null);
    });
  });
