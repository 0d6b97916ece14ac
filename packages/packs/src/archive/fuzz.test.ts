import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { OpenwopError } from '@gantry/protocol';
import fc from 'fast-check';
import { propertyRuns } from '../../../protocol/src/testing/property-runs.ts';
import { integrityOf } from '../trust/keys.ts';
import { extractArchive } from './extract-archive.ts';
import { readArchive } from './read-archive.ts';
import { archiveOf } from './write-archive.ts';

const files = new Map([
  ['pack.json', Buffer.from('{"name":"vendor.acme.tools"}')],
  ['index.mjs', Buffer.from('export const nodes = {};\n'.repeat(40))],
  ['schemas/a.json', Buffer.from('{}')],
  ['prompts/clerk.md', Buffer.from('Be kind.')],
]);
const valid = (await archiveOf(files)).bytes;
const tar = gunzipSync(valid);

const mutation = fc.record({ at: fc.nat(), cut: fc.nat(600), put: fc.uint8Array({ maxLength: 600 }) });
const mutations = fc.array(mutation, { minLength: 1, maxLength: 5 });

function mutate(bytes: Buffer, changes: readonly { at: number; cut: number; put: Uint8Array }[]): Buffer {
  return changes.reduce((current, { at, cut, put }) => {
    const start = at % (current.length + 1);
    return Buffer.concat([current.subarray(0, start), put, current.subarray(start + cut)]);
  }, bytes);
}

/** Only an expected refusal may come out, and what is read has only plain names. */
async function readsOrRefuses(bytes: Buffer): Promise<void> {
  try {
    const archive = await readArchive(bytes);
    for (const name of archive.files.keys()) assert.doesNotMatch(name, /^\/|(^|\/)\.\.(\/|$)|\\/);
  } catch (error) {
    assert.ok(error instanceof OpenwopError, String(error));
  }
}

test('mutated gzip streams are read or refused', async () => {
  await fc.assert(
    fc.asyncProperty(mutations, (changes) => readsOrRefuses(mutate(valid, changes))),
    { numRuns: propertyRuns(300) },
  );
});

test('mutated tar streams are read or refused', async () => {
  await fc.assert(
    fc.asyncProperty(mutations, (changes) => readsOrRefuses(gzipSync(mutate(tar, changes)))),
    { numRuns: propertyRuns(300) },
  );
});

test('whatever is extracted stays inside its folder, and nothing half stays behind', async () => {
  const home = await mkdtemp(path.join(tmpdir(), 'gantry-fuzz-'));
  const flips = fc.array(fc.tuple(fc.nat(tar.length - 1), fc.nat(255)), { maxLength: 6 });
  try {
    await fc.assert(
      fc.asyncProperty(flips, async (changes) => {
        const spoilt = Buffer.from(tar);
        for (const [at, byte] of changes) spoilt[at] = byte;
        const bytes = gzipSync(spoilt);
        const target = path.join(home, 'pack');
        await extractArchive(bytes, { target, integrity: integrityOf(bytes) }).catch((error: unknown) => {
          assert.ok(error instanceof OpenwopError, String(error));
        });
        const left = await readdir(home);
        assert.ok(
          left.every((name) => name === 'pack'),
          left.join(),
        );
        await rm(target, { recursive: true, force: true });
      }),
      { numRuns: 60 },
    );
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});

test('what is written is read back', async () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}(\/[a-z][a-z0-9_-]{0,8}){0,3}\.(mjs|json)$/);
  const contents = fc.dictionary(name, fc.uint8Array({ maxLength: 2000 }), { maxKeys: 8 });
  await fc.assert(
    fc.asyncProperty(contents, async (given) => {
      const all = new Map<string, Uint8Array>([...Object.entries(given), ['pack.json', Buffer.from('{}')]]);
      const written = await archiveOf(all);
      const { files: found, integrity } = await readArchive(written.bytes);
      assert.equal(integrity, written.integrity);
      assert.deepEqual([...found.keys()], [...all.keys()].sort());
      for (const [file, bytes] of found) assert.deepEqual(bytes, Buffer.from(all.get(file) ?? []));
    }),
    { numRuns: 60 },
  );
});
