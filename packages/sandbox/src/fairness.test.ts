/** Tenants beside each other: who has how many processes, and whose turn it is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Invocation, PackCode } from './invocation.ts';
import { invocationOf, nodePack, startSandbox } from './testing/sandbox.ts';

/** Work that holds its process until it is let go. */
function holding(code: PackCode, tenant: string, begun: (tenant: string) => void) {
  const held = Promise.withResolvers<null>();
  const key = { tenant, workspace: 'main', principal: 'ada' };
  const call: Invocation['call'] = async () => {
    begun(tenant);
    return held.promise;
  };
  const surfaces = { hold: 'unary' } as const;
  return { invocation: invocationOf(code, { key, surfaces, call, repeatable: false }), held };
}

test('a tenant with much to do leaves half of the processes to others', async (t) => {
  const sandbox = await startSandbox(t, { warmMax: 4 });
  const code = await nodePack('await ctx.hold(); return {};');
  const greedy = Promise.withResolvers<void>();
  let begun = 0;
  const works = Array.from({ length: 6 }, () =>
    holding(code, 'greedy', () => {
      begun += 1;
      if (begun === 2) greedy.resolve();
    }),
  );
  const ends = works.map(({ invocation }) => sandbox.invoke(invocation));
  await greedy.promise;
  assert.equal(sandbox.stats().waiting, 4);
  const stranger = holding(code, 'stranger', () => stranger.held.resolve(null));
  const { result } = await sandbox.invoke(stranger.invocation);
  assert.equal(result.status, 'success');
  assert.equal(begun, 2, 'nothing of the greedy one had to end first');
  for (const { held } of works) held.resolve(null);
  const all = await Promise.all(ends);
  assert.ok(all.every((end) => end.result.status === 'success'));
});

test('an inspection waits for no invocation', async (t) => {
  const sandbox = await startSandbox(t, { warmMax: 1 });
  const code = await nodePack('await ctx.hold(); return {};');
  const begun = Promise.withResolvers<void>();
  const work = holding(code, 'a', () => begun.resolve());
  const end = sandbox.invoke(work.invocation);
  await begun.promise;
  assert.deepEqual(await sandbox.inspect(code), { loaded: true, typeIds: ['test.node'] });
  work.held.resolve(null);
  await end;
});

test('who gives up waiting leaves its turn to others', async (t) => {
  const sandbox = await startSandbox(t, { warmMax: 1 });
  const code = await nodePack('await ctx.hold(); return {};');
  const begun = Promise.withResolvers<void>();
  const first = holding(code, 'a', () => begun.resolve());
  const end = sandbox.invoke(first.invocation);
  await begun.promise;
  const abort = new AbortController();
  const never = holding(code, 'b', () => assert.fail('it had given up'));
  const second = sandbox.invoke({ ...never.invocation, signal: abort.signal });
  const third = holding(code, 'c', () => third.held.resolve(null));
  const last = sandbox.invoke(third.invocation);
  abort.abort(new Error('enough'));
  await assert.rejects(second, /enough/);
  first.held.resolve(null);
  assert.equal((await end).result.status, 'success');
  assert.equal((await last).result.status, 'success');
  assert.equal(sandbox.stats().waiting, 0);
});
