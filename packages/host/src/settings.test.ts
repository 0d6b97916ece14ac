import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createEgressByPurpose } from '@gantry/egress';
import { openSurfaces } from '@gantry/surfaces';
import { readSettings, SettingsError, settingWarnings, usage } from './settings.ts';
import { temporaryFolder } from './testing/host-process.ts';

const registriesOf = (text: string) => readSettings([], { GANTRY_REGISTRY_URL: text }).registries;

test('no registry is asked and no lockfile or trust file is read unless named', () => {
  const { registries, packLock, trustFile } = readSettings([], {});
  assert.deepEqual([registries, packLock, trustFile], [[], undefined, undefined]);
});

test('flags win over the environment', () => {
  const env = {
    GANTRY_TRUST: 'a.json',
    GANTRY_REGISTRY_URL: 'https://a.example',
    GANTRY_PACK_LOCK: 'l.json',
  };
  const settings = readSettings(['--trust', 'b.json', '--registry', 'https://b.example'], env);
  const { registries, packLock, trustFile } = settings;
  assert.deepEqual([registries, packLock, trustFile], [['https://b.example'], 'l.json', 'b.json']);
});

test('registries are addresses or folders, in the order they are asked', () => {
  assert.deepEqual(registriesOf('https://a.example/, ./mirror ,file:///srv/packs,http://127.0.0.1:80/r'), [
    'https://a.example/',
    './mirror',
    'file:///srv/packs',
    'http://127.0.0.1:80/r',
  ]);
  for (const odd of [
    'ftp://a.example',
    'https:a.example',
    'git+ssh://a.example',
    'http://a.example',
    'http://localhost.a.example',
  ])
    assert.throws(() => registriesOf(odd), SettingsError, odd);
});

test('buckets have names that need no escapes; the first is the one that is meant', () => {
  const serversOf = (text: string) => readSettings([], { GANTRY_DNS_SERVERS: text }).dnsServers;
  assert.deepEqual(serversOf('192.0.2.1, [2001:db8::1]:53'), ['192.0.2.1', '[2001:db8::1]:53']);
  assert.throws(() => serversOf('dns.example'), /GANTRY_DNS_SERVERS/);
  const bucketsOf = (text?: string) => readSettings([], { GANTRY_BUCKETS: text }).buckets;
  assert.deepEqual(bucketsOf(), ['artifacts']);
  assert.deepEqual(bucketsOf(' exports , artifacts,a.b_c-1'), ['exports', 'artifacts', 'a.b_c-1']);
  for (const odd of ['Exports', 'a/b', 'a,..', '.a', 'a-', 'é', 'a b', 'x'.repeat(64), '%41'])
    assert.throws(() => bucketsOf(odd), {
      constructor: SettingsError,
      message: /^GANTRY_BUCKETS: ".*Use 1 to 63/,
    });
  assert.throws(() => bucketsOf('a,b,a'), { constructor: SettingsError, message: /names "a" twice/ });
  const many = Array.from({ length: 101 }, (_, index) => `b${index}`).join();
  for (const count of [',', many])
    assert.throws(() => bucketsOf(count), { constructor: SettingsError, message: /1 to 100 buckets/ });
});

test('a misspelled entry of what may be called is refused, and what is wrong is named', () => {
  const allowOf = (text?: string) => readSettings([], { GANTRY_EGRESS_ALLOW: text }).egressAllow;
  assert.deepEqual(allowOf(), []);
  assert.equal(allowOf('webhook=http://127.0.0.1:9000,raw-fetch@acme=https://10.0.0.0/8').length, 2);
  assert.throws(() => allowOf('webhok=http://127.0.0.1:9000'), {
    constructor: SettingsError,
    message: /^GANTRY_EGRESS_ALLOW: in "webhok=.*"webhok" is not a purpose; use one of webhook,/,
  });
});

test('an unknown flag is refused in one line, with the one that was probably meant', () => {
  const refused = (args: string[], message: RegExp) =>
    assert.throws(() => readSettings(args, {}), { constructor: SettingsError, message });
  refused(['--registri', 'x'], /^There is no flag --registri\. Did you mean --registry\?$/);
  refused(['--zzz', 'x'], /^There is no flag --zzz\. See all flags: --help$/);
  refused(['--port', '--data', 'x'], /^--port needs a value: --port VALUE$/);
  refused(['--port', 'abc'], /^--port must be a whole number from 0 to 65535, not "abc"\.$/);
  refused(['serve'], /^"serve" is not a flag\. See all flags: --help$/);
  assert.match(usage(), /--trust +GANTRY_TRUST/);
});

test('in the list of settings every name stands apart from its meaning', () => {
  const [, ...rows] = usage().split('\n');
  assert.doesNotMatch(usage(), /(\([^)]*\)) \1$/m, 'a default comes once');
  assert.match(usage(), /GANTRY_LOG +trace, debug, info, warn, error, fatal or silent \(info\)/);
  const columns = rows.map((row) => /^( {2}.*?[A-Z]+_[A-Z0-9_]+ {2,})\S/.exec(row)?.[1]?.length);
  assert.equal(new Set(columns).size, 1, usage());
  assert.ok(columns[0]);
});

test('a name that is no setting is told with the one that was probably meant, and never with its value', () => {
  const warned = (name: string) => settingWarnings([], { [name]: 'open-sesame' });
  assert.deepEqual(warned('GANTRY_KVX'), ['Unknown setting GANTRY_KVX (ignored). Did you mean GANTRY_KV?']);
  assert.match(warned('GANTRY_WORKFLOW_DIR').join(), /mean GANTRY_WORKFLOWS_DIR\?$/);
  assert.match(warned('GANTRY_DATABASE').join(), /mean GANTRY_DATABASE_URL\?$/);
  assert.deepEqual(warned('GANTRY_SOMETHING_ELSE'), ['Unknown setting GANTRY_SOMETHING_ELSE (ignored).']);
  for (const known of [
    'GANTRY_KV',
    'GANTRY_URL',
    'GANTRY_REGISTRY_KEY',
    'GANTRY_TEST_MYSQL_URL',
    'GANTRYMAN',
  ])
    assert.deepEqual(warned(known), [], known);
  assert.deepEqual(settingWarnings([], { GANTRY_KVX: '' }), []);
});

test('every name that the command line and the registry read is known', () => {
  const read = new Set<string>();
  for (const room of ['cli', 'registry']) {
    const src = new URL(`../../${room}/src/`, import.meta.url);
    for (const file of globSync('**/*.ts', { cwd: src, exclude: ['**/*.test.ts'] }))
      for (const [name] of readFileSync(new URL(file, src), 'utf8').matchAll(/GANTRY_[A-Z0-9_]*[A-Z0-9]/g))
        read.add(name);
  }
  assert.ok(read.has('GANTRY_REGISTRY_PORT') && read.has('GANTRY_URL'));
  assert.deepEqual(settingWarnings([], Object.fromEntries([...read].map((name) => [name, '.']))), []);
});

test('a workflows folder that was named and is missing is told; the usual one may be missing', () => {
  assert.match(settingWarnings(['--workflows', '/nope'], {}).join(), /^There is no folder \/nope,/);
  assert.match(settingWarnings([], { GANTRY_WORKFLOWS_DIR: '/nope' }).join(), /no folder \/nope/);
  assert.deepEqual(settingWarnings(['--workflows', import.meta.dirname], {}), []);
  assert.deepEqual(settingWarnings([], {}), []);
});

test('a server that no surface can use is refused as a wrong setting, in the words of the surfaces', async (t) => {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const options = {
    dataDir: folder.path,
    cursorKey: new Uint8Array(32),
    invocationRetentionMs: 1_000,
    egress: createEgressByPurpose(),
    now: Date.now,
    report: (fault: unknown) => assert.fail(String(fault)),
    buckets: ['artifacts'],
    blobLinks: { key: new Uint8Array(32), publicUrl: () => '' },
  };
  for (const port of ['kv', 'cache', 'documents', 'vectors', 'search', 'queue', 'blobs'])
    for (const value of ['mongo://ada:open-sesame@db/x', 'open-sesame']) {
      const opened = openSurfaces({ ...options, backends: { [port]: value } });
      const said = await opened.then(
        () => assert.fail(port),
        (error: Error) => error.message,
      );
      assert.doesNotMatch(said, /open-sesame/);
      assert.throws(() => readSettings([], { [`GANTRY_${port.toUpperCase()}`]: value }), {
        constructor: SettingsError,
        message: said,
      });
    }
  assert.equal(readSettings([], { GANTRY_KV: 'postgres://db/x' }).backends.kv, 'postgres://db/x');
});

test('quotas: a wrong entry is refused with its cause, and so is one that is there twice', () => {
  const quotas = (GANTRY_QUOTAS: string) => readSettings([], { GANTRY_QUOTAS }).quotas;
  assert.deepEqual(quotas('kv=1MiB, kv@acme=2MiB'), [
    { name: 'kv', bytes: 2 ** 20 },
    { name: 'kv', tenant: 'acme', bytes: 2 ** 21 },
  ]);
  assert.throws(() => quotas('kvv=1MiB'), /GANTRY_QUOTAS: "kvv=1MiB" is not a quota\. Did you mean kv\?/);
  assert.throws(() => quotas('kv@a=1MiB,kv@a=2MiB'), /GANTRY_QUOTAS: kv@a has more than one size/);
});
