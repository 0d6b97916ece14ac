import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkDatabaseClock } from './probe.ts';

test('a host whose clock differs from its database is a warning; hosts that say nothing are not', () => {
  for (const quiet of [null, {}, { status: 'ready' }, { clockSkewMs: 900 }, { clockSkewMs: '30000' }])
    assert.deepEqual(checkDatabaseClock(quiet), []);
  for (const clockSkewMs of [30_000, -30_000]) {
    const [finding] = checkDatabaseClock({ status: 'ready', clockSkewMs });
    assert.equal(finding?.level, 'warn');
    assert.match(finding?.detail ?? '', /the host and its database are 30/);
  }
});
