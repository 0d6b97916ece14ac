import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings, SettingsError } from './settings.ts';

test('a registry needs no settings: it is public, takes only what is signed, and keeps all in one folder', () => {
  const settings = readSettings([], {});
  assert.equal(settings.port, 7071);
  assert.equal(settings.host, '127.0.0.1');
  assert.deepEqual(settings.storage, { kind: 'folder', folder: '.gantry-registry/packs' });
  const { acceptsUnsigned, acceptsPrivate, testSeams } = settings;
  assert.deepEqual(
    { acceptsUnsigned, acceptsPrivate, testSeams },
    {
      acceptsUnsigned: false,
      acceptsPrivate: false,
      testSeams: false,
    },
  );
});

test('flags win over the environment', () => {
  const env = {
    GANTRY_REGISTRY_PORT: '1',
    GANTRY_REGISTRY_STORAGE: 's3://packs',
    GANTRY_S3_ENDPOINT: 'http://s3',
  };
  const settings = readSettings(['--port', '0', '--public-url', 'https://packs.example.org/'], env);
  assert.equal(settings.port, 0);
  assert.equal(settings.publicUrl, 'https://packs.example.org');
  assert.deepEqual(settings.storage, { kind: 's3', bucket: 'packs', prefix: '', endpoint: 'http://s3' });
});

test('what cannot be used is refused by name', () => {
  for (const [name, value] of [
    ['GANTRY_REGISTRY_PORT', 'high'],
    ['GANTRY_REGISTRY_PUBLIC_URL', 'packs.example.org'],
    ['GANTRY_REGISTRY_STORAGE', 'ftp://packs'],
    ['GANTRY_REGISTRY_UNSIGNED', 'yes'],
    ['GANTRY_DATABASE_URL', 'mysql://db'],
    ['GANTRY_LOG', 'loud'],
  ] as const)
    assert.throws(
      () => readSettings([], { [name]: value }),
      (error) => error instanceof SettingsError && error.message.includes(name),
    );
  assert.throws(
    () => readSettings(['--colour', 'red'], {}),
    /^Error: There is no flag --colour\. See all flags: --help$/,
  );
});
