import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createEgress, PUBLIC_POLICY } from '@gantry/egress';
import { CreateMessageResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { LOOPBACK_POLICY } from '../../../egress/src/testing/egress.ts';
import type { Data, NodeError } from '../invocation.ts';
import { type RemoteInvocation, RemotePacks, type RemotePacksOptions } from './remote-packs.ts';
import { type McpServerOptions, mcpServer, type TestMcpServer, type Tools } from './testing/mcp-server.ts';

const text = (...texts: string[]) => ({
  content: texts.map((one) => ({ type: 'text' as const, text: one })),
});

function packsFor(t: TestContext, options: Partial<RemotePacksOptions> = {}): RemotePacks {
  const packs = new RemotePacks({
    egress: createEgress({ policy: LOOPBACK_POLICY }),
    connectionsMax: 4,
    idleMs: 60_000,
    now: () => performance.now(),
    ...options,
  });
  t.after(() => packs.stop());
  return packs;
}

const asking = (entry: string, more: Partial<RemoteInvocation> = {}): RemoteInvocation => ({
  pack: { name: 'vendor.acme.far', version: '1.0.0', entry },
  tenant: 'acme',
  typeId: 'vendor.acme.work',
  ctx: { runId: 'run-1', nodeId: 'a', attempt: 0, inputs: { x: 1 }, config: { y: 2 } },
  limits: { wallClockMs: 60_000, outputBytes: 1_000_000 },
  emit: () => {},
  ...more,
});

async function world(
  t: TestContext,
  tools: Tools,
  options: Partial<McpServerOptions> = {},
): Promise<{ server: TestMcpServer; packs: RemotePacks; ask: Ask }> {
  const server = await mcpServer(t, { tools, ...options });
  const packs = packsFor(t);
  return { server, packs, ask: async (more) => (await packs.invoke(asking(server.url, more))).result };
}

type Ask = (
  more?: Partial<RemoteInvocation>,
) => Promise<Awaited<ReturnType<RemotePacks['invoke']>>['result']>;

const errorOf = async (result: ReturnType<Ask>): Promise<NodeError> => {
  const settled = await result;
  assert.equal(settled.status, 'error');
  return settled.status === 'error' ? settled.error : assert.fail();
};

for (const json of [false, true])
  test(`a node is the tool of its name, over ${json ? 'JSON' : 'an event stream'}`, async (t) => {
    const { server, packs } = await world(
      t,
      { 'vendor.acme.work': ({ arguments: given }) => ({ ...text('ok'), structuredContent: { given } }) },
      { json },
    );
    const { result, used, variables } = await packs.invoke(asking(server.url));
    const given = {
      inputs: { x: 1 },
      config: { y: 2 },
      context: { runId: 'run-1', nodeId: 'a', attempt: 0 },
    };
    assert.deepEqual(result, { status: 'success', outputs: { given } });
    assert.deepEqual(used, { primitives: ['net.outbound'], surfaces: [`mcp:${new URL(server.url).host}`] });
    assert.deepEqual(variables, {});
    assert.ok(server.heard.every(({ authorization, cookie }) => !authorization && !cookie));
  });

test('a tool may be named like the last segment, and an unknown one is told', async (t) => {
  const { ask } = await world(t, { other: () => text('1'), work: () => text('{"n":1}') });
  assert.deepEqual(await ask(), { status: 'success', outputs: { n: 1 } });
  assert.equal((await errorOf(ask({ typeId: 'vendor.acme.gone' }))).code, 'unknown_type_id');
});

test('texts that hold no object are outputs too', async (t) => {
  const { ask } = await world(t, { work: () => text('[1]', 'two') });
  assert.deepEqual(await ask(), { status: 'success', outputs: { text: '[1]\ntwo' } });
});

test('errors of tools keep what they say', async (t) => {
  const said = { error: { code: 'BUSY', message: 'later', retryable: true, details: { at: 1 } } };
  const { ask } = await world(t, {
    plain: () => ({ ...text('it broke'), isError: true }),
    coded: () => ({ ...text('x'), isError: true, structuredContent: said }),
    thrown: () => {
      throw new Error('inside');
    },
  });
  const plain = { code: 'remote_tool_failed', message: 'it broke', retryable: false };
  assert.deepEqual(await errorOf(ask({ typeId: 'a.plain' })), plain);
  assert.deepEqual(await errorOf(ask({ typeId: 'a.coded' })), said.error);
  assert.equal((await errorOf(ask({ typeId: 'a.thrown' }))).code, 'remote_tool_failed');
});

test('progress becomes events, before the result', async (t) => {
  const { ask } = await world(t, {
    work: async ({ extra }) => {
      const progressToken = extra._meta?.progressToken ?? '';
      for (const progress of [1, 2])
        await extra.sendNotification({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 2, message: `step ${progress}` },
        });
      return text('{}');
    },
  });
  const told: Data[] = [];
  await ask({ emit: (event) => void told.push(event) });
  const step = (progress: number) => ({
    type: 'node.progress',
    data: { progress, total: 2, message: `step ${progress}` },
  });
  assert.deepEqual(told, [step(1), step(2)]);
});

test('who gives up hears no answer, and the server is told', async (t) => {
  const begun = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  const { packs, server } = await world(t, {
    work: ({ extra }) => {
      extra.signal.addEventListener('abort', () => cancelled.resolve());
      begun.resolve();
      return new Promise(() => {});
    },
  });
  const stop = new AbortController();
  const outcome = packs.invoke(asking(server.url, { signal: stop.signal }));
  await begun.promise;
  stop.abort(new Error('enough'));
  await assert.rejects(outcome, /enough/);
  await cancelled.promise;
});

test('time and size are bounded', async (t) => {
  const { ask } = await world(t, {
    slow: () => new Promise(() => {}),
    large: () => text('x'.repeat(2_000_000)),
    huge: () => text('x'.repeat(12_000_000)),
    deep: () => text(`{"a":${'['.repeat(500)}${']'.repeat(500)}}`),
  });
  const limits = { wallClockMs: 300, outputBytes: 1_000_000 };
  assert.equal((await errorOf(ask({ typeId: 'a.slow', limits }))).code, 'sandbox_timeout');
  assert.equal((await errorOf(ask({ typeId: 'a.large' }))).code, 'sandbox_invocation_error');
  assert.equal((await errorOf(ask({ typeId: 'a.deep' }))).code, 'remote_answer_invalid');
  const huge = await errorOf(ask({ typeId: 'a.huge', limits: { ...limits, wallClockMs: 60_000 } }));
  assert.ok(['response_too_large', 'sandbox_timeout'].includes(huge.code), huge.code);
});

test('private addresses are refused, and nothing was used', async (t) => {
  const server = await mcpServer(t, { tools: { work: () => text('{}') } });
  const packs = packsFor(t, { egress: createEgress({ policy: PUBLIC_POLICY }) });
  const ends = [server.url, server.url.replace('http:', 'https:'), 'https://10.0.0.1/mcp'];
  const outcomes = await Promise.all(ends.map((entry) => packs.invoke(asking(entry))));
  const codes = outcomes.map(({ result }) => (result.status === 'error' ? result.error.code : ''));
  assert.deepEqual(codes, ['scheme_not_allowed', 'address_not_allowed', 'address_not_allowed']);
  assert.deepEqual(outcomes[0]?.used, { primitives: [], surfaces: [] });
  assert.equal(server.heard.length, 0);
  assert.equal(packs.size, 0);
});

test('a server that wants credentials, or is busy, is told apart', async (t) => {
  let status = 401;
  const { ask } = await world(t, {}, { intercept: (_, response) => !!response.writeHead(status).end() });
  assert.equal((await errorOf(ask())).code, 'credential_unavailable');
  status = 503;
  assert.deepEqual(
    [(await errorOf(ask())).code, (await errorOf(ask())).retryable],
    ['remote_unavailable', true],
  );
  status = 302;
  assert.equal((await errorOf(ask())).code, 'remote_unavailable');
});

test('an answer that breaks off leaves the call in doubt', async (t) => {
  let isBreaking = false;
  const { ask } = await world(
    t,
    { work: () => text('{}') },
    {
      intercept: (_, response) => {
        if (!isBreaking) return false;
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
        response.write('{', () => response.destroy());
        return true;
      },
    },
  );
  await ask();
  isBreaking = true;
  assert.equal((await errorOf(ask())).code, 'sandbox_invocation_error');
});

test('a server that asks for a model gets none', async (t) => {
  const params = { messages: [], maxTokens: 1 };
  const { ask } = await world(t, {
    work: async ({ extra }) => {
      const method = 'sampling/createMessage';
      const sampled = await extra.sendRequest({ method, params }, CreateMessageResultSchema, {
        timeout: 300,
      });
      return text(JSON.stringify(sampled));
    },
  });
  assert.equal((await errorOf(ask())).code, 'remote_tool_failed');
});

test('one session serves a pack version for a tenant, and a lost one is begun anew', async (t) => {
  const { ask, server, packs } = await world(t, { work: () => text('{}') });
  await Promise.all([ask(), ask()]);
  await ask();
  assert.equal(server.sessions.opened, 1);
  await ask({ tenant: 'other' });
  assert.equal(server.sessions.opened, 2);
  server.forgetSessions();
  assert.equal((await ask()).status, 'success');
  assert.equal(server.sessions.opened, 3);
  assert.equal(packs.size, 2);
});

test('sessions are few: idle ones make room, busy ones do not, and all end with the host', async (t) => {
  const go = Promise.withResolvers<void>();
  const server = await mcpServer(t, {
    tools: { work: () => text('{}'), wait: () => go.promise.then(() => text('{}')) },
  });
  const packs = packsFor(t, { connectionsMax: 1 });
  await packs.invoke(asking(server.url));
  const busy = packs.invoke(asking(server.url, { tenant: 'b', typeId: 'a.wait' }));
  const { result } = await packs.invoke(asking(server.url, { tenant: 'c' }));
  assert.deepEqual(result.status === 'error' && [result.error.code, result.error.retryable], [
    'remote_busy',
    true,
  ]);
  go.resolve();
  assert.equal((await busy).result.status, 'success');
  await packs.stop();
  assert.deepEqual(server.sessions, { opened: 2, closed: 2 });
});
