import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { integrityOf } from '@gantry/packs';
import type { JsonObject } from '@gantry/protocol';
import { hostile, MANIFEST, TAR_END, tarEntry, tgz } from '../../../packs/src/testing/tar.ts';
import { type KeyPair, keyPair, madePack } from '../testing/packs.ts';
import {
  apiKey,
  type Publication,
  publish,
  type TestRegistry,
  testRegistry,
} from '../testing/test-registry.ts';

const NAMESPACES = ['packs', 'packs-test'] as const;
const MIB = 1024 * 1024;

const keys: KeyPair = keyPair();
const signedWith = { keyId: 'acme-1', privateKey: keys.privateKey };
let registry: TestRegistry;
let publisher: string;
let reader: string;
const finished: (() => Promise<void> | void)[] = [];

before(async () => {
  registry = await testRegistry({ after: (end) => void finished.push(end as () => Promise<void>) });
  publisher = await apiKey(registry, 'acme');
  reader = await apiKey(registry, 'acme', ['packs:read']);
  const claim = await registry.request(
    {
      method: 'POST',
      url: '/v1/host/gantry/registry/claims',
      payload: {
        namespace: 'vendor.acme.*',
        signingKey: { keyId: 'acme-1', publicKey: keys.publicKey, validFrom: '2020-01-01T00:00:00Z' },
      },
    },
    publisher,
  );
  assert.equal(claim.statusCode, 201, claim.body);
});

after(async () => {
  for (const end of finished) await end();
});

/** Each case breaks one thing; what is broken in a later check as well must not be told first. */
interface Case {
  readonly code: string;
  readonly status: number;
  readonly publication: () => Promise<Publication> | Publication;
}

const GARBAGE = Buffer.from('this is no archive');
const BOMB = gzipSync(Buffer.alloc(64 * MIB));

const manifestCase = (code: string, manifest: JsonObject, files: Record<string, string> = {}): Case => ({
  code,
  status: 400,
  publication: async () => ({ bytes: await madePack({ manifest, files, signedWith }) }),
});

const archiveCase = (code: string, make: () => Uint8Array): Case => ({
  code,
  status: 400,
  publication: () => ({ bytes: make() }),
});

const CASES: Readonly<Record<string, Case>> = {
  'a name of one word, with a bad version': {
    code: 'invalid_pack_name',
    status: 400,
    publication: () => ({ name: 'single', version: 'one', bytes: GARBAGE, key: reader }),
  },
  'a name with capitals in its scope': {
    code: 'invalid_pack_name',
    status: 400,
    publication: () => ({ name: 'Vendor.acme.tools', bytes: GARBAGE }),
  },
  'an unknown scope': {
    code: 'invalid_pack_scope',
    status: 400,
    publication: () => ({ name: 'bogus.unsupported-scope.pack', version: 'one', bytes: GARBAGE }),
  },
  'a private name': {
    code: 'invalid_pack_scope',
    status: 400,
    publication: () => ({ name: 'private.acme.tools', bytes: GARBAGE }),
  },
  'a local name': {
    code: 'invalid_pack_scope',
    status: 400,
    publication: () => ({ name: 'local.acme.tools', bytes: GARBAGE }),
  },
  'a version that is none, with a key that may not publish': {
    code: 'invalid_version',
    status: 400,
    publication: () => ({ version: 'not-a-version', bytes: GARBAGE, key: reader }),
  },
  'a version with a leading zero': {
    code: 'invalid_version',
    status: 400,
    publication: () => ({ version: '01.0.0', bytes: GARBAGE }),
  },
  'no key': { code: 'unauthenticated', status: 401, publication: () => ({ bytes: GARBAGE, key: '' }) },
  'a key without the scope, with a body that is no archive': {
    code: 'forbidden',
    status: 403,
    publication: () => ({ bytes: GARBAGE, headers: { 'content-type': 'application/json' }, key: reader }),
  },
  'a JSON body': {
    code: 'invalid_body',
    status: 400,
    publication: () => ({ bytes: Buffer.from('{}'), headers: { 'content-type': 'application/json' } }),
  },
  'an empty body': { code: 'invalid_body', status: 400, publication: () => ({ bytes: new Uint8Array() }) },
  'a body over the limit': {
    code: 'payload_too_large',
    status: 413,
    publication: () => ({ bytes: Buffer.alloc(10 * MIB + 1, 1) }),
  },
  'what is no gzip, with a wrong hash': {
    code: 'tarball_gunzip_failed',
    status: 400,
    publication: () => ({ bytes: GARBAGE, headers: { 'x-pack-sha256': 'sha256-wrong' } }),
  },
  'half a gzip stream': archiveCase('tarball_gunzip_failed', () => hostile().subarray(0, 60)),
  'a small body that unpacks to more than is taken': archiveCase('tarball_too_large', () => BOMB),
  'no pack.json': archiveCase('tarball_manifest_missing', () =>
    tgz(tarEntry({ name: 'a.txt', content: 'a' }), TAR_END),
  ),
  'a pack.json over its limit': archiveCase('tarball_manifest_too_large', () =>
    tgz(tarEntry({ name: 'pack.json', content: Buffer.alloc(300 * 1024) }), TAR_END),
  ),
  'a pack.json that is not JSON': archiveCase('tarball_manifest_not_json', () =>
    tgz(tarEntry({ name: 'pack.json', content: '{nope' }), TAR_END),
  ),
  'a name that leads out': archiveCase('tarball_path_traversal', () =>
    hostile({ name: '../x', content: 'x' }),
  ),
  'a link': archiveCase('unsafe_paths', () => hostile({ name: 'a', type: '2', linkname: '/etc/passwd' })),
  'what is no tar': archiveCase('tarball_tar_parse_failed', () => gzipSync(Buffer.alloc(2048, 7))),
  'something after the end': archiveCase('tarball_tar_parse_failed', () =>
    tgz(tarEntry(MANIFEST), TAR_END, Buffer.from('x')),
  ),
  'a file over its limit': archiveCase('tarball_entry_too_large', () =>
    hostile({ name: 'index.mjs', size: 6 * MIB }),
  ),
  'an entry that is not there': manifestCase('tarball_entry_missing', {
    runtime: { language: 'javascript', entry: './missing.mjs' },
  }),
  'a manifest that does not fit its schema': manifestCase('invalid_manifest', { nodes: 'none', name: 'x' }),
  'a manifest of no kind': manifestCase('pack_kind_invalid', { kind: 'novel' }),
  'a manifest with the content of another kind': manifestCase('pack_kind_invalid', { prompts: [] }),
  'a broken range of protocol versions': manifestCase('invalid_engines_range', {
    engines: { openwop: 'new' },
  }),
  'a language that nobody runs': manifestCase('unsupported_runtime', {
    runtime: { language: 'cobol', entry: './index.mjs' },
  }),
  'another name in the manifest': manifestCase('manifest_mismatch', { name: 'vendor.acme.other' }),
  'another version in the manifest': manifestCase('manifest_mismatch', { version: '1.0.1' }),
  'a schema that is not there': manifestCase('schema_ref_missing', {
    nodes: [
      {
        typeId: 'vendor.acme.tools.echo',
        version: '1.0.0',
        category: 'data',
        role: 'pure',
        outputSchemaRef: 'schemas/missing.json',
      },
    ],
  }),
  'a schema that is no schema': manifestCase('schema_ref_missing', {}, { 'schemas/echo.input.json': '[]' }),
  'a wrong hash, of an unsigned pack': {
    code: 'pack_integrity_failure',
    status: 400,
    publication: async () => ({
      bytes: await madePack(),
      headers: { 'x-pack-sha256': integrityOf(Buffer.from('other')) },
    }),
  },
  'a name that somebody else has claimed': {
    code: 'forbidden',
    status: 403,
    publication: async () => ({ bytes: await madePack(), key: await apiKey(registry, 'rival') }),
  },
  'a name that nobody has claimed': {
    code: 'forbidden',
    status: 403,
    publication: async () => ({
      name: 'community.free.tools',
      bytes: await madePack({ manifest: { name: 'community.free.tools' } }),
    }),
  },
  'no signature': {
    code: 'signature_required',
    status: 400,
    publication: async () => ({ bytes: await madePack() }),
  },
  'a method that the archive does not declare': {
    code: 'signature_invalid',
    status: 400,
    publication: async () => ({
      bytes: await madePack({ signedWith }),
      headers: { 'x-pack-signing-method': 'none' },
    }),
  },
  'the signature of another key': {
    code: 'signature_invalid',
    status: 400,
    publication: async () => ({
      bytes: await madePack({ signedWith: { ...signedWith, privateKey: keyPair().privateKey } }),
    }),
  },
  'a key that the namespace does not have': {
    code: 'signature_invalid',
    status: 400,
    publication: async () => ({ bytes: await madePack({ signedWith: { ...signedWith, keyId: 'acme-9' } }) }),
  },
};

for (const namespace of NAMESPACES)
  describe(`/v1/${namespace}: what is refused leaves nothing`, () => {
    for (const [name, { code, status, publication }] of Object.entries(CASES))
      test(`${name}: ${code}`, async () => {
        const wanted = { key: publisher, ...(await publication()), namespace };
        const response = await publish(registry, wanted);
        assert.equal(response.json().error, code, response.body);
        assert.equal(response.statusCode, status);
        assert.deepEqual(await registry.stored(), []);
        assert.equal(registry.server.registry.catalogue.revision, 1, 'only the claim was written');
        assert.equal(registry.server.registry.testCatalogue?.revision, 0);
      });
  });
