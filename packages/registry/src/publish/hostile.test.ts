/** Archives as an attacker would send them: refused with 400, and nothing of them stays. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { hostile, type TarEntry } from '../../../packs/src/testing/tar.ts';
import { madePack } from '../testing/packs.ts';
import { publish, type TestRegistry, testRegistry } from '../testing/test-registry.ts';

let registry: TestRegistry;
const finished: (() => Promise<void> | void)[] = [];

before(async () => {
  const settings = { acceptsUnsigned: true };
  registry = await testRegistry(
    { after: (end) => void finished.push(end as () => Promise<void>) },
    { settings },
  );
});
after(async () => {
  for (const end of finished) await end();
});

const file = (name: string, more: Partial<TarEntry> = {}): TarEntry => ({ name, content: 'x', ...more });

const ARCHIVES: Readonly<Record<string, readonly [TarEntry, string]>> = {
  'a path upwards': [file('a/../../escape'), 'tarball_path_traversal'],
  'an absolute path': [file('/etc/passwd'), 'tarball_path_traversal'],
  'a drive': [file('C:/windows'), 'tarball_path_traversal'],
  'a second manifest': [file('PACK.JSON'), 'unsafe_paths'],
  'a device name': [file('nul.txt'), 'unsafe_paths'],
  'a hard link': [file('a', { type: '1', linkname: 'pack.json' }), 'unsafe_paths'],
  'a file of settings': [file('lib/.env.production'), 'unsafe_paths'],
  'installed modules': [file('node_modules/left-pad/index.js'), 'unsafe_paths'],
  'a history': [file('.git/config'), 'unsafe_paths'],
  'a key of npm': [file('.npmrc'), 'unsafe_paths'],
  'a lockfile': [file('package-lock.json'), 'unsafe_paths'],
  'a private key': [
    file('docs/notes.txt', { content: '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE' }),
    'unsafe_paths',
  ],
  'an extended header': [file('a', { type: 'x' }), 'tarball_tar_parse_failed'],
  'a size in base 256': [file('a', { size: '\x80\0\0\0\0\0\0\0\0\0\0\x01' }), 'tarball_tar_parse_failed'],
  'eight gigabytes': [file('a', { size: '77777777777\0' }), 'tarball_entry_too_large'],
};

describe('hostile archives', () => {
  for (const [name, [entry, code]] of Object.entries(ARCHIVES))
    test(`${name}: ${code}`, async () => {
      const response = await publish(registry, { bytes: hostile(entry) });
      assert.equal(response.json().error, code);
      assert.equal(response.statusCode, 400);
      assert.deepEqual(await registry.stored(), []);
    });
});

const mutation = fc.record({ at: fc.nat(), cut: fc.nat(600), put: fc.uint8Array({ maxLength: 600 }) });
const mutations = fc.array(mutation, { minLength: 1, maxLength: 4 });

function mutate(bytes: Buffer, changes: readonly { at: number; cut: number; put: Uint8Array }[]): Buffer {
  return changes.reduce((current, { at, cut, put }) => {
    const start = at % (current.length + 1);
    return Buffer.concat([current.subarray(0, start), put, current.subarray(start + cut)]);
  }, bytes);
}

/** What is not refused may be stored; what is refused is not, and the answer is never our own fault. */
async function takenOrRefused(bytes: Buffer): Promise<void> {
  const before = await registry.stored();
  const response = await publish(registry, { bytes });
  const { statusCode } = response;
  assert.ok([200, 201, 400, 409].includes(statusCode), response.body);
  const stored = await registry.stored();
  if (statusCode === 400) assert.deepEqual(stored, before);
  assert.ok(stored.every((name) => name.endsWith('.tgz')));
}

test('mutated archives are taken whole or refused', async () => {
  const valid = await madePack();
  const tar = gunzipSync(valid);
  await fc.assert(
    fc.asyncProperty(mutations, fc.boolean(), (changes, packed) =>
      takenOrRefused(packed ? mutate(valid, changes) : gzipSync(mutate(tar, changes))),
    ),
    { numRuns: 60 },
  );
});
