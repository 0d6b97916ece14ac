/** WASM ABI v1, both conventions for pairs, through real children. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Data, Invocation, PackCode } from './invocation.ts';
import { invocationOf, MIB, packOf, startSandbox } from './testing/sandbox.ts';
import { compileText, NODE_IDS, wasmPack } from './testing/wasm.ts';

const limits = { memoryBytes: 8 * MIB, wallClockMs: 60_000, outputBytes: MIB };
const of = (code: PackCode, typeId: string, overrides: Partial<Invocation> = {}) =>
  invocationOf(code, { typeId, limits, ...overrides });

for (const pairs of ['packed', 'multi-value'] as const)
  describe(`pairs: ${pairs}`, () => {
    test('nodes are listed, complete, fail and suspend', async (t) => {
      const sandbox = await startSandbox(t);
      const code = await wasmPack(pairs);
      const resultOf = async (typeId: string, overrides?: Partial<Invocation>) =>
        (await sandbox.invoke(of(code, typeId, overrides))).result;
      const hello = { status: 'success', outputs: { hello: 'world' } };
      assert.deepEqual(await sandbox.inspect(code), { loaded: true, typeIds: NODE_IDS });
      assert.deepEqual(await resultOf('wasm.hello'), hello);
      const failed = await resultOf('wasm.fail');
      assert.equal(failed.status === 'error' && failed.error.code, 'no_luck');
      const asked = await resultOf('wasm.ask');
      assert.deepEqual(asked, {
        status: 'suspended',
        key: 'why',
        request: { kind: 'clarification', key: 'why' },
      });
      assert.deepEqual(await resultOf('wasm.ask', { answers: { why: { text: 'because' } } }), hello);
      const returned = await resultOf('wasm.suspend');
      assert.equal(returned.status === 'suspended' && returned.key, 'k');
    });

    test('the imports reach the host', async (t) => {
      const sandbox = await startSandbox(t);
      const heard: Data[] = [];
      const { variables, used } = await sandbox.invoke(
        of(await wasmPack(pairs), 'wasm.host', {
          log: (level, message) => void heard.push([level, message]),
          call: async (method) => {
            heard.push(method);
            return 1_700_000_000_000;
          },
        }),
      );
      assert.deepEqual(heard, [['info', 'from inside'], 'wasm.now_ms']);
      assert.deepEqual([variables, used.surfaces], [{ v: 1 }, ['wasm.now_ms']]);
    });
  });

test('memory, time and traps are told apart, and the next invocation works', async (t) => {
  const sandbox = await startSandbox(t);
  const code = await wasmPack('packed');
  const errorOf = async (typeId: string, wallClockMs = 60_000) => {
    const { result } = await sandbox.invoke(of(code, typeId, { limits: { ...limits, wallClockMs } }));
    return result.status === 'error' ? result.error : assert.fail(JSON.stringify(result));
  };
  const grown = await errorOf('wasm.grow');
  assert.equal(grown.code, 'sandbox_memory_exceeded');
  assert.deepEqual([grown.details?.kind, grown.details?.limit], ['wasm-memory', 8 * MIB]);
  assert.equal((await errorOf('wasm.spin', 500)).code, 'sandbox_timeout');
  assert.equal((await errorOf('wasm.trap')).code, 'sandbox_invocation_error');
  assert.equal((await sandbox.invoke(of(code, 'wasm.hello'))).result.status, 'success');
});

test('what is not ABI v1 does not load', async (t) => {
  const sandbox = await startSandbox(t);
  const codeOf = async (code: PackCode) => {
    const inspection = await sandbox.inspect(code);
    return inspection.loaded ? 'loaded' : inspection.error.code;
  };
  assert.equal(await codeOf(await wasmPack('packed', 2)), 'unsupported_abi_version');
  const bytes = await compileText('(module (import "wasi_snapshot_preview1" "fd_write" (func)))');
  const wasi: PackCode = { ...(await packOf({ 'pack.wasm': bytes })), language: 'wasm', entry: 'pack.wasm' };
  assert.equal(await codeOf(wasi), 'sandbox_capability_denied');
});
