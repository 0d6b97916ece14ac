import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Session, Sessions } from './sessions.ts';

/** Remembers what was done to it. */
class Fake implements Session {
  readonly done: string[] = [];
  isOpen = true;

  async renew(): Promise<void> {
    this.done.push('renew');
    if (this.done.includes('spoilt')) throw new Error('cannot be renewed');
  }

  end(): void {
    this.isOpen = false;
    this.done.push('end');
  }
}

function world() {
  const begun: Fake[] = [];
  const sessions = new Sessions(() => begun[begun.push(new Fake()) - 1]!);
  const act = (key: string, what: string) => sessions.use(key, async ({ done }) => void done.push(what));
  return { begun, sessions, act };
}

test('a session is renewed after each call, before somebody else has it', async () => {
  const { begun, sessions, act } = world();
  await act('acme', 'a');
  await new Promise(setImmediate);
  await act('other', 'b');
  await sessions.close();
  assert.deepEqual(
    begun.map(({ done }) => done),
    [['a', 'renew', 'b', 'renew', 'end']],
  );
});

test('one that cannot be renewed, or was ended, is not used again', async () => {
  const { begun, sessions, act } = world();
  await act('acme', 'spoilt');
  await new Promise(setImmediate);
  await sessions.use('acme', async (session) => session.end());
  await assert.rejects(
    sessions.use('acme', () => Promise.reject(new Error('failed'))),
    /failed/,
  );
  await sessions.close();
  assert.deepEqual(
    begun.map(({ done }) => done),
    [['spoilt', 'renew', 'end'], ['end'], ['renew', 'end']],
  );
});

test('a call that ends its session leaves those of others alone', async () => {
  const { begun, sessions } = world();
  const { promise, resolve } = Promise.withResolvers<string>();
  const other = sessions.use('other', () => promise);
  await sessions.use('acme', async (session) => session.end());
  assert.deepEqual(
    begun.map(({ isOpen }) => isOpen),
    [true, false],
  );
  const closing = sessions.close();
  resolve('answered');
  assert.equal(await other, 'answered');
  await closing;
  await assert.rejects(
    sessions.use('acme', async () => {}),
    { code: 'storage_unavailable' },
  );
});
