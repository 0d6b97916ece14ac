import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings, SettingsError, usage } from './settings.ts';

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

test('an unknown flag is refused with the list of those that are known', () => {
  assert.throws(
    () => readSettings(['--registries', 'x'], {}),
    (error) => {
      assert.ok(error instanceof SettingsError);
      assert.match(error.message, /--registries[\s\S]*GANTRY_REGISTRY_URL/);
      return true;
    },
  );
  assert.match(usage(), /--trust +GANTRY_TRUST/);
});
