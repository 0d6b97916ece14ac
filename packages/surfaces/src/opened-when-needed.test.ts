import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openedWhenNeeded } from './opened-when-needed.ts';

function world() {
  const attempts: PromiseWithResolvers<string>[] = [];
  const closed: string[] = [];
  const needed = openedWhenNeeded({
    open: () => {
      const attempt = Promise.withResolvers<string>();
      attempts.push(attempt);
      return attempt.promise;
    },
    close: async (opened) => void closed.push(opened),
  });
  return { attempts, closed, needed };
}

test('I1, I2: one attempt for all who wait; the next one who asks after a failure tries again', async () => {
  const { attempts, closed, needed } = world();
  assert.equal(attempts.length, 0, 'nobody asked');
  const both = [needed.get(), needed.get()];
  attempts[0]?.reject(new Error('unreachable'));
  for (const each of both) await assert.rejects(each, /unreachable/);
  const again = needed.get();
  attempts[1]?.resolve('it');
  assert.deepEqual([await again, await needed.get(), attempts.length], ['it', 'it', 2]);
  await needed.close();
  assert.deepEqual(closed, ['it']);
});

test('I3: what is still being opened at the end is closed; nothing is opened after it', async () => {
  const { attempts, closed, needed } = world();
  const asked = needed.get().then((opened) => [opened, [...closed]]);
  const closing = needed.close();
  attempts[0]?.resolve('late');
  await closing;
  assert.deepEqual(closed, ['late']);
  assert.deepEqual(await asked, ['late', []], 'who waited had it before it was closed');
  await assert.rejects(needed.get(), { code: 'storage_unavailable', message: /stopping/ });
  assert.equal(attempts.length, 1);
  await world().needed.close();
});
