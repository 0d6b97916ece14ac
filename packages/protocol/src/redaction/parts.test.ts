import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { partsOf } from './parts.ts';
import { createRedactor } from './redactor.ts';

const { privateKey: PEM } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const ACCOUNT = {
  type: 'service_account',
  project_id: 'acme-prod-384712',
  private_key_id: randomBytes(20).toString('hex'),
  private_key: PEM,
  client_email: 'reporter@acme-prod-384712.iam.gserviceaccount.com',
  auth_uri: 'https://accounts.google.com/o/oauth2/auth',
  auth_provider_x509_cert_url: 'https://www.googleapis.com/oauth2/v1/certs',
  universe_domain: 'googleapis.com',
};

const redacted = (value: string, text: string): string =>
  createRedactor([{ value, label: 'k' }]).redact(text);

for (const indent of [0, 2])
  test(`a service account with indent ${indent}: the key and each of its lines, no word`, () => {
    const value = JSON.stringify(ACCOUNT, null, indent);
    const { private_key, private_key_id, ...plain } = ACCOUNT;
    const lines = PEM.trim()
      .split('\n')
      .slice(1, -1)
      .filter((line) => line.length >= 16);
    for (const secret of [private_key.trim(), private_key_id, ...lines])
      assert.equal(redacted(value, secret), '[REDACTED:k]');
    assert.ok(!redacted(value, lines.join('')).includes(lines[3]!.slice(0, 12)));
    for (const text of Object.values(plain)) assert.equal(redacted(value, text), text);
    assert.equal(redacted(value, '-----BEGIN PRIVATE KEY-----'), '-----BEGIN PRIVATE KEY-----');
  });

const CASES: readonly (readonly [what: string, value: string, parts: readonly string[]])[] = [
  ['a plain value', 'sk-live-4Kd8Zt2mQ9wLx7Rb', []],
  ['words under a name of a secret', '{"password":"correct horse","user":"reporter"}', ['correct horse']],
  [
    'several spellings of such names',
    '{"apiKey":"lowercase","CLIENT_SECRET":"lowertwo","db":{"pwd":"lowerthree"}}',
    ['lowercase', 'lowertwo', 'lowerthree'],
  ],
  [
    'nested members and lists',
    '{"a":[{"b":"x1y2z3a4b5"}],"tokens":["firstone","q7w8e9r0t1"]}',
    ['x1y2z3a4b5', 'q7w8e9r0t1'],
  ],
  ['a list under a name of a secret', '{"token":["firstone"]}', ['firstone']],
  ['short strings', '{"password":"short","pin":"1234567"}', []],
  [
    'JSON in JSON',
    JSON.stringify({ config: JSON.stringify({ secret: 'innerinner' }) }),
    [JSON.stringify({ secret: 'innerinner' }), 'innerinner'].slice(1),
  ],
  ['a JSON string', '"lowercase"', ['lowercase']],
  ['the password of a URL', 'postgres://reporter:hunterhunter@db.acme.test:5432/ads', ['hunterhunter']],
  ['as it is decoded', 'mysql://app:p%40ss%2Fword%C3%A9@db/x', ['p%40ss%2Fword%C3%A9', 'p@ss/wordé']],
  ['one that is not encoded', 'redis://:pass@word@cache/0', ['pass@word']],
  [
    'a token in place of the user',
    'https://ghp_16C7e42F292c6912E7@git.acme.test/x',
    ['ghp_16C7e42F292c6912E7'],
  ],
  ['a URL without userinfo', 'https://hooks.acme.test/services/T024BE7LD', []],
  ['lines', 'header line of words\r\nQWxhZGRpbjpvcGVu\r\nshort1', ['QWxhZGRpbjpvcGVu']],
  ['JSON that is not closed', '{"password":"correct horse"', []],
];

for (const [what, value, expected] of CASES)
  test(`parts of ${what}`, () => assert.deepEqual(partsOf(value), expected));

test('the parts of a value are bounded, whatever its shape', () => {
  const many = JSON.stringify(Array.from({ length: 2_000 }, (_, index) => `a1b2c3d4${index}`));
  assert.equal(partsOf(many).length, 256);
  assert.deepEqual(partsOf(`${'['.repeat(8_000)}"a1b2c3d4e5"${']'.repeat(8_000)}`), []);
  let nested = 'a1b2c3d4e5';
  while (nested.length < 16_000) nested = JSON.stringify(nested);
  assert.ok(partsOf(nested).length <= 17);
});

test('other Unicode forms of a value are found, in every encoding', () => {
  const value = 'Tür-Schlüssel-éà';
  for (const form of ['NFC', 'NFD'] as const)
    for (const other of ['NFC', 'NFD'] as const) {
      const text = value.normalize(other);
      for (const encoded of [text, encodeURIComponent(text), Buffer.from(text).toString('hex')])
        assert.equal(redacted(value.normalize(form), `<${encoded}>`), '<[REDACTED:k]>');
    }
});
