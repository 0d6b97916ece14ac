/** A pack that calls the host where its stack is full has made a mistake, and tries no escape. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PackCode } from './invocation.ts';
import type { Sandbox } from './sandbox.ts';
import { pythonPack, startPythonSandbox } from './testing/python.ts';
import { invocationOf, nodePack, startSandbox } from './testing/sandbox.ts';

const CALLS = [
  `ctx.log('info', 'x')`,
  `void ctx.emit({ a: 1 }).catch(() => {})`,
  `void ctx.echo({ a: [1, { b: 2 }] }).catch(() => {})`,
  `ctx.now()`,
  `process.env.A`,
];

/**
 * The end of the stack is found by halves, and again when it has moved: compiled code has smaller frames. At depths
 * near it, one call; then one with room, which the host takes only if it is the next in order.
 */
const overflowing = (call: string): Promise<PackCode> =>
  nodePack(`
    const at = (depth, last) => depth > 0 ? at(depth - 1, last) : last();
    const fits = (depth) => { try { at(depth, () => 0); return true; } catch { return false; } };
    const end = () => {
      let [low, high] = [1000, 2000];
      while (fits(high)) [low, high] = [high, 2 * high];
      while (high - low > 1) fits((low + high) >> 1) ? (low = (low + high) >> 1) : (high = (low + high) >> 1);
      return low;
    };
    let thrown = 0;
    let fine = 0;
    for (let round = 0; round < 10 && (thrown === 0 || fine < 200); round++)
      for (let depth = end() + 500, tries = 0; tries < 300 && depth > 0; depth -= 7, tries++)
        try { at(depth, () => ${call}); fine += 1; } catch { thrown += 1; }
    await ctx.echo('last');
    return { both: thrown > 0 && fine > 0 };`);

async function isHeard(sandbox: Sandbox, code: PackCode): Promise<void> {
  const { result } = await sandbox.invoke(
    invocationOf(code, {
      grants: ['env.read'],
      environment: { A: 'x' },
      surfaces: { echo: 'unary', now: 'sync' },
      call: async (_, [value]) => value ?? 1,
    }),
  );
  assert.deepEqual(result, { status: 'success', outputs: { both: true } });
}

test('in JavaScript', async (t) => {
  const sandbox = await startSandbox(t);
  for (const call of CALLS) await t.test(call, async () => isHeard(sandbox, await overflowing(call)));
});

test('in Python', async (t) => {
  const sandbox = await startPythonSandbox(t);
  if (!sandbox) return;
  const code = await pythonPack(`
def at(depth, last):
    return at(depth - 1, last) if depth > 0 else last()
thrown = fine = 0
for depth in range(850, 1000):
    for last in (lambda: ctx.emit({'a': 1}), lambda: ctx.now(), lambda: ctx.echo([[1]])):
        try:
            at(depth, last)
            fine += 1
        except RecursionError:
            thrown += 1
ctx.echo('last')
return {'both': thrown > 0 and fine > 0}`);
  await isHeard(sandbox, code);
});
