/** The corpus of hostile modules: each is stopped with the right code, and the sandbox serves the next. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Invocation, PackCode } from './invocation.ts';
import type { Sandbox } from './sandbox.ts';
import { ESCAPES, type Escape } from './testing/escapes/index.ts';
import { invocationOf, MIB, nodePack, startSandbox } from './testing/sandbox.ts';

/** Short enough to wait for, long enough for a busy machine. */
const limitsOf = ({ expected }: Escape): Invocation['limits'] => ({
  memoryBytes: 64 * MIB,
  wallClockMs: expected !== 'contained' && expected.code === 'sandbox_timeout' ? 400 : 20_000,
  outputBytes: MIB,
});

async function invoke(sandbox: Sandbox, hostile: Escape, code: PackCode) {
  return sandbox.invoke(
    invocationOf(code, {
      grants: hostile.grants ?? [],
      limits: limitsOf(hostile),
      surfaces: { echo: 'unary' },
      call: async (_, args) => args[0],
    }),
  );
}

function check({ expected }: Escape, { result }: Awaited<ReturnType<Sandbox['invoke']>>): void {
  if (expected === 'contained') {
    assert.equal(result.status, 'success', JSON.stringify(result));
    assert.equal(result.status === 'success' && result.outputs.escaped, false, JSON.stringify(result));
    return;
  }
  assert.equal(result.status, 'error', JSON.stringify(result));
  if (result.status !== 'error') return;
  assert.equal(result.error.code, expected.code, JSON.stringify(result));
  if (expected.escapeKind) assert.equal(result.error.details?.escapeKind, expected.escapeKind);
}

test('the corpus is large enough', () => {
  const names = Object.values(ESCAPES).flatMap((family) => family.map(({ name }) => name));
  assert.ok(names.length >= 60, `${names.length} modules`);
});

for (const [family, escapes] of Object.entries(ESCAPES))
  describe(`escapes: ${family}`, () => {
    test('each is stopped, and the next invocation works', async (t) => {
      const sandbox = await startSandbox(t);
      const honest = await nodePack('return { status: "success", outputs: { fine: true } };');
      for (const hostile of escapes)
        await t.test(hostile.name, async () => {
          check(hostile, await invoke(sandbox, hostile, await nodePack(hostile.body, hostile.before)));
          const { result } = await sandbox.invoke(invocationOf(honest));
          assert.deepEqual(result, { status: 'success', outputs: { fine: true } });
          assert.equal(Reflect.get({}, 'polluted'), undefined);
        });
    });
  });
