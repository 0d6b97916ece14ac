import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '../settings.ts';
import { processLog } from './process-log.ts';
import { createRedactions } from './redactions.ts';

test('lines of every level have no value of any tenant, and none of the settings', () => {
  const own = {
    GANTRY_ADMIN_KEY: 'admin-key-0123456789-0123456789-0123',
    GANTRY_MASTER_KEY: 'master-key-0123456789-0123456789-0123',
    GANTRY_REGISTRY_KEY: 'registry-key-0123456789',
    GANTRY_DATABASE_URL: 'postgres://user:pass%2Fword-0123@127.0.0.1:1/db',
    GANTRY_KV: 'postgres://user:another-0123@127.0.0.1:1/db',
  };
  const settings = { ...readSettings([], own), logLevel: 'trace' };
  const lines: string[] = [];
  const redactions = createRedactions();
  const log = processLog(redactions, settings, { write: (line) => void lines.push(line) });
  redactions.note('acme', 'of-a-"tenant"-0123', 'cred-1');
  const secrets = [own.GANTRY_ADMIN_KEY, own.GANTRY_MASTER_KEY, 'pass/word-0123', 'another-0123'];
  secrets.push('of-a-"tenant"-0123', own.GANTRY_REGISTRY_KEY);
  const err = new Error(`failed with ${secrets.join(' ')}`);
  for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const)
    log.child({ secrets })[level]({ err, own, deep: { [secrets[4]!]: [secrets] } }, `text ${secrets.join()}`);
  assert.equal(lines.length, 6);
  for (const line of lines) {
    JSON.parse(line);
    for (const secret of secrets) {
      assert.ok(!line.includes(secret) && !line.includes(JSON.stringify(secret).slice(1, -1)), line);
      assert.ok(!line.includes(encodeURIComponent(secret)), line);
    }
  }
});
