import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Invocation, InvocationOutcome, PackCode } from '../../invocation.ts';
import type { Sandbox } from '../../sandbox.ts';
import { fetched, invocationOf, MIB } from '../sandbox.ts';
import type { Escape } from './escape.ts';

/** Short enough to wait for, long enough for a busy machine. */
const limitsOf = ({ expected }: Escape): Invocation['limits'] => ({
  memoryBytes: 64 * MIB,
  wallClockMs: expected !== 'contained' && expected.code === 'sandbox_timeout' ? 400 : 60_000,
  outputBytes: MIB,
});

const hostileInvocation = (hostile: Escape, { code, typeId }: HostileNode): Invocation =>
  invocationOf(code, {
    typeId,
    grants: hostile.grants ?? [],
    limits: limitsOf(hostile),
    surfaces: { echo: 'unary' },
    call: async (method, args) => (method === 'net.fetch' ? fetched(args) : args[0]),
  });

function check({ expected }: Escape, { result }: InvocationOutcome): void {
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

export type HostileNode = Pick<Invocation, 'code' | 'typeId'>;

export interface Corpus {
  readonly sandbox: Sandbox;
  readonly escapes: readonly Escape[];
  /** Runs after each and must not have noticed. */
  readonly honest: PackCode;
  nodeOf(hostile: Escape): Promise<HostileNode>;
}

/** Each is stopped with its code, and the next invocation works. */
export async function runEscapes(t: TestContext, { sandbox, escapes, honest, nodeOf }: Corpus) {
  for (const hostile of escapes)
    await t.test(hostile.name, async () => {
      check(hostile, await sandbox.invoke(hostileInvocation(hostile, await nodeOf(hostile))));
      const { result } = await sandbox.invoke(invocationOf(honest));
      assert.deepEqual(result, { status: 'success', outputs: { fine: true } });
      assert.equal(Reflect.get({}, 'polluted'), undefined);
    });
}
