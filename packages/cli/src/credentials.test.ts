import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../host/src/testing/host-process.ts';
import { realHost, type Said } from './testing/real-host.ts';

const VALUE = 'sk_live_CANARY_4f1c8a2e9b';

function ok(said: Said): string {
  assert.equal(said.code, 0, said.err);
  for (const text of [said.out, said.err]) assert.ok(!text.includes(VALUE), text);
  return said.out;
}

test('credentials: the value is piped, typed or read from a file, and shown nowhere', async (t) => {
  const host = await realHost(t, []);
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const file = path.join(folder.path, 'key');
  await writeFile(file, `${VALUE}\n`);
  assert.match(ok(await host.gantry('credentials')), /^No credentials yet/);
  const add = ['credentials', 'add'];
  const audience = ['--kind', 'bearer', '--audience', 'api.stripe.com'];
  assert.equal(ok(await host.piping(`${VALUE}\n`, ...add, 'piped', ...audience)), 'piped added\n');
  const typed = host.typing([VALUE], ...add, 'typed', ...audience);
  assert.equal(ok(await typed.finished), 'typed added\n');
  assert.equal(ok(await host.gantry(...add, 'filed', ...audience, '--from-file', file)), 'filed added\n');
  const owner = { tenant: 'default', workspace: 'default', principal: null };
  for (const ref of ['piped', 'typed', 'filed'])
    assert.equal((await host.services.credentials.open(owner, ref)).value, `Bearer ${VALUE}`, ref);
  assert.match(
    ok(await host.gantry('credentials', 'ls')),
    /piped +active +bearer +tenant +1 +api\.stripe\.com/,
  );
  ok(await host.gantry('credentials', 'show', 'piped', '--json'));
  const rotated = await host.piping('another-value', 'credentials', 'rotate', 'piped', '--overlap', '60');
  assert.match(ok(rotated), /^piped is at version 2; version 1 works until \d/);
  assert.equal(ok(await host.gantry('credentials', 'share', 'piped', '--workspace', 'w')), 'piped shared\n');
  ok(await host.gantry('credentials', 'unshare', 'piped', '--workspace', 'w'));
  assert.match(
    ok(await host.gantry('credentials', 'rekey')),
    /^3 records are sealed with the root key [0-9a-f]{8}\. Those before are deleted after \d{4}-/,
  );
  assert.equal((await host.services.credentials.open(owner, 'typed')).value, `Bearer ${VALUE}`);
  assert.equal(ok(await host.gantry('credentials', 'revoke', 'piped')), 'piped revoked\n');
  assert.equal(ok(await host.gantry('credentials', 'rm', 'piped')), 'piped removed\n');
});

test('credentials: what is missing is named, and short values are warned of', async (t) => {
  const host = await realHost(t, []);
  const empty = await host.piping('', 'credentials', 'add', 'x');
  assert.equal(empty.code, 2);
  assert.match(empty.err, /The value is empty\. Pipe it in, type it when asked/);
  const short = await host.piping('abc', 'credentials', 'add', 'x');
  assert.match(short.err, /Warning: It has no audience[\s\S]*Warning: Its value has fewer than 8 characters/);
  assert.match((await host.gantry('credentials', 'share', 'x')).err, /Name a --workspace/);
  assert.match(
    (await host.gantry('credentials', 'rotate', 'x', '--source', 'PATH')).err,
    /no store "PATH"\. One of: env, files/,
  );
});

test('doctor: a line for each credential that does not work, with what to type', async (t) => {
  const host = await realHost(t, []);
  const add = (ref: string, ...more: string[]) => host.piping(VALUE, 'credentials', 'add', ref, ...more);
  const audience = ['--audience', 'api.example.com'];
  ok(await add('good', ...audience));
  ok(await add('late', ...audience, '--kind', 'oauth2', '--expires', '2001-01-01T00:00:00Z'));
  ok(await add('nowhere'));
  ok(await add('absent', ...audience, '--source', 'env:CRM_TOKEN'));
  ok(await add('ended', ...audience));
  ok(await host.gantry('credentials', 'revoke', 'ended'));
  assert.match(ok(await host.gantry('credentials', 'ls')), /absent +unreadable/);
  const { out } = await host.gantry('doctor');
  const lines = out
    .split('\n')
    .flatMap((line, at, all) => (/ credential /.test(line) ? [line, all[at + 1]] : []));
  assert.deepEqual(
    lines.map((line) => line?.trim().replace(/ +/g, ' ')),
    [
      'ok credential 1 can be used',
      lines[1]?.trim().replace(/ +/g, ' '),
      'warn credential nowhere: has no audience, so it is sent nowhere',
      'Next: Type: gantry credentials rm nowhere, then: gantry credentials add nowhere --audience HOST',
      'warn credential late: expired at 2001-01-01T00:00:00.000Z',
      'Next: Type: gantry credentials rotate late',
      'warn credential ended: was revoked',
      'Next: Type: gantry credentials rm ended',
      'warn credential absent: its value is not in env:CRM_TOKEN',
      'Next: Start the host with CRM_TOKEN in its environment and in GANTRY_SECRETS_ENV.',
    ],
  );
});
