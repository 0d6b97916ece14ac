import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unreachable } from './backend-errors.ts';
import { createOutageReport } from './backend-health.ts';

const away = () => unreachable('PostgreSQL at queue:5432', 'ECONNREFUSED');

test('an outage is told once, and again when it lasts; other faults always', () => {
  const told: unknown[] = [];
  let now = 0;
  const { absent, fault } = createOutageReport({ report: (each) => void told.push(each), now: () => now });
  absent({ reason: away().message, names: ['GANTRY_QUEUE'] });
  fault(away());
  assert.deepEqual(told.length, 1);
  assert.match(String(told[0]), /^GANTRY_QUEUE: PostgreSQL at queue:5432 cannot be reached \(ECONNREFUSED\)/);
  fault(unreachable('PostgreSQL at kv:5432', 'ECONNREFUSED'));
  assert.equal(told.length, 2, 'another server');
  now += 600_000;
  fault(away());
  fault(away());
  assert.equal(told.length, 3);
  for (let times = 0; times < 2; times++) fault(new Error('a bug'));
  assert.equal(told.length, 5);
});
