import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { Uids } from './uids.ts';

test('a uid serves one at a time, of any sandbox of this process', () => {
  const range = { first: 64_000, last: 64_002 };
  const [one, other] = [new Uids(range), new Uids(range)];
  const taken = [one.take(), other.take(), one.take()];
  assert.deepEqual([...taken].sort(), [64_000, 64_001, 64_002]);
  assert.throws(() => other.take(), /GANTRY_SANDBOX_UIDS/);
  const [first = 0] = taken;
  one.release(first);
  assert.equal(other.take(), first);
  for (const uid of taken) one.release(uid);
});

test('a uid that something runs with is not given away', (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can become another user');
  const child = spawn('sleep', ['600'], { stdio: 'ignore', uid: 64_010, gid: 64_010 });
  t.after(() => child.kill());
  assert.equal(new Uids({ first: 64_010, last: 64_011 }).take(), 64_011);
  assert.throws(() => new Uids({ first: 64_010, last: 64_010 }).take());
});

test('uids that do not exist are told', () => {
  assert.throws(() => new Uids({ first: 4_294_967_295, last: 4_294_967_295 }), /uid_map/);
});
