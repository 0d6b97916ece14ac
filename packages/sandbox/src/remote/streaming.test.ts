import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEgress } from '@gantry/egress';
import { LOOPBACK_POLICY } from '../../../egress/src/testing/egress.ts';
import { RemotePacks } from './remote-packs.ts';
import { mcpServer } from './testing/mcp-server.ts';

test('progress is heard while the tool still works', async (t) => {
  const heard = Promise.withResolvers<void>();
  const server = await mcpServer(t, {
    tools: {
      work: async ({ extra }) => {
        const progressToken = extra._meta?.progressToken ?? '';
        await extra.sendNotification({
          method: 'notifications/progress',
          params: { progressToken, progress: 1 },
        });
        await heard.promise;
        return { content: [{ type: 'text', text: '{"done":true}' }] };
      },
    },
  });
  const egress = createEgress({ policy: LOOPBACK_POLICY });
  const packs = new RemotePacks({ egress, connectionsMax: 1, idleMs: 1_000, now: () => performance.now() });
  t.after(() => packs.stop());
  const { result } = await packs.invoke({
    pack: { name: 'vendor.acme.far', version: '1.0.0', entry: server.url },
    tenant: 'acme',
    typeId: 'vendor.acme.work',
    limits: { wallClockMs: 60_000, outputBytes: 1_000 },
    ctx: { runId: 'run-1', nodeId: 'a', attempt: 0, inputs: {}, config: {} },
    emit: () => heard.resolve(),
  });
  assert.deepEqual(result, { status: 'success', outputs: { done: true } });
});
