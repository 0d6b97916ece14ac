import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { readAllowList } from './allow-entry.ts';
import { createEgress } from './egress.ts';
import { judgeMailServer, judgeUrl } from './target.ts';
import { failsWith, fakeLookup } from './testing/egress.ts';
import { rawServer } from './testing/server.ts';

const policyOf = (list = '') => ({ purpose: 'connector' as const, allow: readAllowList(list) });
const reasonOf = (url: string, list = '', plain = false) => {
  const judgement = judgeMailServer(url, { plain }, policyOf(list));
  return judgement.allowed ? undefined : judgement.problem.reason;
};

test('public mail servers are open on the ports of submission, over an encrypted connection', () => {
  for (const url of [
    'smtps://mail.example.com',
    'smtps://mail.example.com:465/',
    'smtp://mail.example.com:587',
  ])
    assert.equal(reasonOf(url), undefined, url);
  assert.equal(reasonOf('smtp://mail.example.com:25'), 'port_not_allowed');
  assert.equal(reasonOf('smtp://mail.example.com', '', true), 'port_not_allowed');
  assert.equal(reasonOf('smtp://mail.example.com', 'connector=smtp://mail.example.com', true), undefined);
  assert.equal(reasonOf('smtp://relay.corp.example:25', 'connector=smtp://relay.corp.example:25'), undefined);
});

test('what is no mail server, lies inside or is spelled in another way is refused', () => {
  const refused = {
    'https://mail.example.com': 'url_invalid',
    'smtp://mail.example.com/path': 'url_invalid',
    'smtp://mail.example.com?x': 'url_invalid',
    'SMTP://mail.example.com': 'url_invalid',
    'smtp://user:pw@mail.example.com': 'credentials_in_url',
    'smtp://127.0.0.1': 'address_not_allowed',
    'smtp://127.1': 'address_not_allowed',
    'smtp://0x7f000001': 'address_not_allowed',
    'smtp://[::ffff:10.0.0.1]': 'address_not_allowed',
    'smtp://169.254.169.254': 'address_not_allowed',
    'smtp://localhost': 'host_not_allowed',
    'smtp://metadata.google.internal': 'host_not_allowed',
  };
  for (const [url, reason] of Object.entries(refused)) assert.equal(reasonOf(url), reason, url);
});

test('an entry for mail opens no web address, and the other way round', () => {
  const mail = policyOf('connector=smtp://127.0.0.1:8025');
  const judgement = judgeUrl('smtp://127.0.0.1:8025', mail);
  assert.equal(judgement.allowed ? undefined : judgement.problem.reason, 'scheme_not_allowed');
  assert.equal(judgeUrl('http://127.0.0.1:8025', mail).allowed, false);
  assert.equal(reasonOf('smtp://127.0.0.1:8025', 'connector=http://127.0.0.1:8025'), 'port_not_allowed');
  assert.throws(
    () => readAllowList('webhook=smtp://127.0.0.1'),
    /"smtp" is not a scheme; use https or http\./,
  );
});

test('a connection goes to a checked address, and a name that leads inside gets none', async (t) => {
  const port = await rawServer(t, (socket) => socket.end('220 ready\r\n'));
  const allow = readAllowList(`connector=smtp://relay.example:${port}`);
  const lookup = fakeLookup({ 'relay.example': ['127.0.0.1'], 'mail.example': ['10.0.0.1'] });
  const egress = createEgress({ policy: { purpose: 'connector', allow }, lookup });
  const { socket, address } = await egress.connect(`smtp://relay.example:${port}`);
  t.after(() => socket.destroy());
  const [greeting] = await once(socket, 'data');
  assert.deepEqual([address, String(greeting)], ['127.0.0.1', '220 ready\r\n']);
  const error = await failsWith(egress.connect('smtps://mail.example'), 'address_not_allowed');
  assert.match(error.message, /connector=smtps:\/\/mail\.example:465 in GANTRY_EGRESS_ALLOW/);
  assert.equal((await egress.checkMailServer('smtps://mail.example'))?.reason, 'address_not_allowed');
});
