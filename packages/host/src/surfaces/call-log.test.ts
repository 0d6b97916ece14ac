import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallReport } from '@gantry/surfaces';
import { pino } from 'pino';
import { callLog } from './call-log.ts';

const DENIED: CallReport = {
  surface: 'fs',
  method: 'read',
  tenant: 'acme',
  runId: 'run-1',
  nodeId: 'node-1',
  pack: { name: 'vendor.acme.pack', version: '1.0.0' },
  ms: 1,
  ok: false,
  code: 'path_outside_sandbox',
};

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly tenant: string;
  readonly untold?: number;
  readonly reason?: string;
  readonly setting?: string;
  readonly err?: object;
}

const SETTINGS = new Map([['kvStorage', 'GANTRY_KV']]);

function listen(level = 'info') {
  const lines: Line[] = [];
  const clock = { now: 0 };
  const log = pino({ level }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { lines, clock, tell: callLog({ log, now: () => clock.now, settings: SETTINGS }) };
}

test('a pack that is denied in a loop is told once a second, with how often', () => {
  const { lines, clock, tell } = listen();
  for (let n = 0; n < 5; n++) tell(DENIED);
  clock.now = 1_000;
  tell(DENIED);
  assert.deepEqual(
    lines.map(({ msg, untold }) => [msg, untold]),
    [
      ['surface call denied', undefined],
      ['surface call denied', 4],
    ],
  );
});

test('it hides nobody else, and faults are as seldom', () => {
  const { lines, tell } = listen();
  for (const tenant of ['acme', 'acme', 'other']) tell({ ...DENIED, tenant });
  for (let n = 0; n < 3; n++) tell({ ...DENIED, code: 'internal_error', fault: new Error('broken') });
  tell({ ...DENIED, ok: true });
  assert.deepEqual(
    lines.map(({ msg, tenant }) => [msg, tenant]),
    [
      ['surface call denied', 'acme'],
      ['surface call denied', 'other'],
      ['surface call failed', 'acme'],
    ],
  );
});

test('an outage is a warning with the setting and the server, and without the stack of the driver', () => {
  const fault = new Error('Reached the max retries');
  const kv: CallReport = { ...DENIED, surface: 'kvStorage', code: 'storage_unavailable' };
  const away: CallReport = {
    ...kv,
    server: 'unreachable',
    reason: 'PostgreSQL at kv:5432 cannot be used',
    fault,
  };
  const { lines, tell } = listen();
  for (let n = 0; n < 3; n++) tell(away);
  tell({ ...kv, tenant: 'other', server: 'rejected', reason: 'PostgreSQL at kv:5432 refuses' });
  tell({ ...DENIED, code: 'queue_backend_unavailable', fault: new Error('the disk is full') });
  const { warn, debug } = pino.levels.values;
  assert.deepEqual(
    lines.map(({ level, msg, setting, reason, err }) => [level, msg, setting, reason, err]),
    [
      [warn, 'surface backend unreachable', 'GANTRY_KV', 'PostgreSQL at kv:5432 cannot be used', undefined],
      [warn, 'surface backend rejected the host', 'GANTRY_KV', 'PostgreSQL at kv:5432 refuses', undefined],
      [warn, 'surface backend unavailable', undefined, 'the disk is full', undefined],
    ],
  );
  const closely = listen('debug');
  closely.tell(away);
  assert.deepEqual(
    closely.lines.map(({ level, err }) => [level, err !== undefined]),
    [
      [debug, true],
      [warn, false],
    ],
  );
});
