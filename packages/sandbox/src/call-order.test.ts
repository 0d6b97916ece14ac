import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invocationOf, MIB, nodePack, startSandbox } from './testing/sandbox.ts';

const SURFACES = { take: 'unary', look: 'sync' } as const;

test('calls that leave together keep their order, also before a blocking call, an event and the result', async (t) => {
  const sandbox = await startSandbox(t);
  const code = await nodePack(`
    void ctx.take('first'); void ctx.take('second');
    ctx.look('third');
    void ctx.take('fourth'); void ctx.emit('fifth'); void ctx.take('sixth');
    return { status: 'success', outputs: {} };
  `);
  const heard: unknown[] = [];
  const { result } = await sandbox.invoke(
    invocationOf(code, {
      surfaces: SURFACES,
      call: async (_method, [what]) => {
        heard.push(what);
        return null;
      },
      emit: (what) => void heard.push(what),
    }),
  );
  assert.equal(result.status, 'success');
  assert.deepEqual(heard, ['first', 'second', 'third', 'fourth', 'fifth', 'sixth']);
});

test('more calls at once than there is credit for are all answered, in order', async (t) => {
  const sandbox = await startSandbox(t);
  const code = await nodePack(`
    const answers = await Promise.all(Array.from({ length: 12000 }, (_, at) => ctx.take(at)));
    return { status: 'success', outputs: { inOrder: answers.every((answer, at) => answer === at) } };
  `);
  let next = 0;
  const { result } = await sandbox.invoke(
    invocationOf(code, {
      surfaces: SURFACES,
      limits: { memoryBytes: 256 * MIB, wallClockMs: 120_000, outputBytes: MIB },
      call: async (_method, [at]) => {
        assert.equal(at, next);
        next += 1;
        return at ?? null;
      },
    }),
  );
  assert.deepEqual(result, { status: 'success', outputs: { inOrder: true } });
});
