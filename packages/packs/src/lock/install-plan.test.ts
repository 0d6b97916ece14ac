import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ErrorCode, OpenwopError } from '@gantry/protocol';
import type { PackManifest } from '../manifest/kinds.ts';
import { judgeFetched } from '../registry/fetch-pack.ts';
import { Registries } from '../registry/registries.ts';
import {
  type Documents,
  memoryRegistry,
  nodeManifest,
  publishedDocuments,
} from '../registry/testing/memory-registry.ts';
import {
  failsWith,
  lockFrom,
  offer,
  published,
  registriesOf,
  roots,
  SHARED,
  TOOLS,
} from '../testing/locks.ts';
import { acmeKeys, keyPair, NOW } from '../testing/signed-pack.ts';
import { integrityOf, readPublicKey, signEd25519 } from '../trust/keys.ts';
import { checkLocked, checkOverrides, fetchLocked, installPlan } from './install-plan.ts';
import type { LockedPack, PackLock } from './lockfile.ts';

const documents = await publishedDocuments(published);
const lock = await lockFrom(documents);
const registries = registriesOf(documents);

const changed = (name: string, change: Partial<LockedPack>): PackLock => ({
  ...lock,
  packs: lock.packs.map((entry) => (entry.name === name ? { ...entry, ...change } : entry)),
});
const without = (name: string): PackLock => ({
  ...lock,
  packs: lock.packs.filter((entry) => entry.name !== name),
});

async function install(from: PackLock, on: Documents = documents, given = offer): Promise<string[]> {
  const plan = installPlan(from, roots, registriesOf(on));
  const installed: string[] = [];
  const manifests: PackManifest[] = [];
  for (const step of plan.steps) {
    const fetched = await fetchLocked(step);
    checkLocked(step, fetched, given);
    manifests.push(fetched.manifest);
    installed.push(`${step.name}@${step.version}`);
  }
  checkOverrides(plan, roots, manifests);
  return installed;
}
const refused = (from: PackLock, code: ErrorCode, on?: Documents): Promise<OpenwopError> =>
  failsWith(() => install(from, on), code);

describe('a frozen install', () => {
  test('takes exactly what is listed, dependencies first', async () => {
    assert.deepEqual(await install(lock), [`${SHARED}@1.2.0`, `${TOOLS}@1.0.0`]);
  });

  test('keeps to its pins when newer versions are published', async () => {
    const newer = await publishedDocuments([
      ...published,
      { manifest: nodeManifest(SHARED, '1.9.0') },
      { manifest: nodeManifest(TOOLS, '1.9.0') },
    ]);
    assert.deepEqual(await install(lock, newer), [`${SHARED}@1.2.0`, `${TOOLS}@1.0.0`]);
  });

  test('what is fetched is trusted by the keys of its registry', async () => {
    const plan = installPlan(lock, roots, registries);
    for (const step of plan.steps) {
      const fetched = await fetchLocked(step);
      const host = { policy: { mode: 'verified' }, isExact: true, now: NOW } as const;
      const judgement = await judgeFetched(fetched, host);
      assert.equal(judgement.trusted && judgement.signedBy, 'acme-1');
    }
  });

  test('an override that contradicts an entry, or satisfies no range, is refused', async () => {
    await refused({ ...lock, overrides: { [SHARED]: '1.1.0' } }, 'pack_lockfile_invalid');
    const far = { name: SHARED, range: '^2.0.0', requestedBy: 'workflow far' };
    const plan = installPlan({ ...lock, overrides: { [SHARED]: '1.2.0' } }, [far], registries);
    await failsWith(async () => checkOverrides(plan, [far], []), 'pack_dependency_conflict');
    checkOverrides(plan, [far, { ...far, range: '^1.2.0' }], []);
  });

  test('a root or a dependency that is not listed: pack_lockfile_incomplete', async () => {
    assert.match(
      (await refused(without(TOOLS), 'pack_lockfile_incomplete')).message,
      /workflow greet asks for/,
    );
    const { details } = await refused(without(SHARED), 'pack_lockfile_incomplete');
    assert.deepEqual(details, { packName: SHARED, requestedBy: `${TOOLS}@1.0.0` });
    // The lockfile may keep silent about a dependency; the archive does not.
    await refused(changed(TOOLS, { dependencies: {} }), 'pack_lockfile_incomplete');
  });

  test('a pin counts, whatever range is asked for, and says so', async () => {
    const other = [{ name: TOOLS, range: '^2.0.0', requestedBy: 'workflow greet' }];
    const { steps } = installPlan(lock, other, registries);
    const said = 'The lockfile pins vendor.acme.tools to 1.0.0, and workflow greet asks for ^2.0.0.';
    assert.deepEqual(
      steps.map(({ name, version, warnings }) => [name, version, warnings]),
      [
        [SHARED, '1.2.0', []],
        [TOOLS, '1.0.0', [said]],
      ],
    );
  });

  test('pins that contradict each other: pack_lockfile_invalid; a circle: pack_dependency_cycle', async () => {
    await refused(changed(TOOLS, { dependencies: { [SHARED]: '1.0.0' } }), 'pack_lockfile_invalid');
    await refused(changed(SHARED, { dependencies: { [TOOLS]: '1.0.0' } }), 'pack_dependency_cycle');
  });

  test('another archive: pack_integrity_mismatch, before anything is unpacked', async () => {
    const at = `/v1/packs/${TOOLS}/-/1.0.0.tgz`;
    const other = new Map(documents).set(at, Buffer.from('no archive at all'));
    await refused(lock, 'pack_integrity_mismatch', other);
  });

  test('an archive that holds another pack, or a broken manifest: pack_manifest_invalid', async () => {
    const manifest = { ...nodeManifest(TOOLS, '1.0.0'), runtime: 'none' };
    const broken = await publishedDocuments([{ manifest, served: { runtime: {} } }, ...published.slice(1)]);
    const archive = broken.get(`/v1/packs/${TOOLS}/-/1.0.0.tgz`) ?? assert.fail();
    await refused(changed(TOOLS, { integrity: integrityOf(archive) }), 'pack_manifest_invalid', broken);

    const swapped = new Map(documents);
    swapped.set(
      `/v1/packs/${TOOLS}/-/1.0.0.tgz`,
      documents.get(`/v1/packs/${SHARED}/-/1.2.0.tgz`) ?? Buffer.of(),
    );
    const { integrity = '' } = lock.packs.find(({ name }) => name === SHARED) ?? {};
    const error = await refused(changed(TOOLS, { integrity }), 'pack_manifest_invalid', swapped);
    assert.match(error.message, /holds vendor\.acme\.shared@1\.2\.0/);
  });

  test('a version that is gone: pack_version_not_found', async () => {
    for (const ending of ['json', 'tgz']) {
      const less = new Map(documents);
      less.delete(`/v1/packs/${TOOLS}/-/1.0.0.${ending}`);
      await refused(lock, 'pack_version_not_found', less);
    }
  });

  test('a capability that the host lacks: pack_peer_dependency_missing', async () => {
    const bare = { ...offer, capabilities: new Map() };
    const error = await failsWith(() => install(lock, documents, bare), 'pack_peer_dependency_missing');
    assert.deepEqual(error.details?.missing, ['host.kanban']);
    assert.match(error.message, /needs host\.kanban, which this host does not offer\. Enable/);
    const stricter = changed(SHARED, { peerDependencies: { 'host.kanbn': 'supported' } });
    const wrong = await refused(stricter, 'pack_peer_dependency_missing');
    assert.match(
      wrong.message,
      /needs host\.kanbn, .*did you mean host\.kanban\?\)\. Correct peerDependencies/,
    );
  });
});

describe('signatures in a lockfile', () => {
  const spki = (pem: string): string =>
    readPublicKey(pem)?.export({ type: 'spki', format: 'der' }).toString('base64') ?? assert.fail();
  const signatureOf = (keys: { publicKey: string; privateKey: string }, message: Uint8Array) => ({
    algorithm: 'ed25519' as const,
    publicKey: spki(keys.publicKey),
    value: signEd25519(keys.privateKey, message).toString('base64'),
  });
  const archiveAt = (name: string, version: string): Uint8Array =>
    documents.get(`/v1/packs/${name}/-/${version}.tgz`) ?? assert.fail();
  const manualSignature = documents.get(`/v1/packs/${SHARED}/-/1.2.0.sig`) ?? assert.fail();

  test('over the archive and, for a pack that says so, over its pack.json', async () => {
    const whole = signatureOf(acmeKeys, archiveAt(SHARED, '1.2.0'));
    assert.equal((await install(changed(SHARED, { signature: whole }))).length, 2);
    const manual = { ...whole, value: Buffer.from(manualSignature).toString('base64') };
    assert.equal((await install(changed(SHARED, { signature: manual }))).length, 2);
  });

  test('a key may be written as its bare 32 bytes', async () => {
    const { publicKey, ...rest } = signatureOf(acmeKeys, archiveAt(TOOLS, '1.0.0'));
    const bare = Buffer.from(publicKey, 'base64').subarray(-32).toString('base64');
    assert.equal((await install(changed(TOOLS, { signature: { ...rest, publicKey: bare } }))).length, 2);
  });

  test('a wrong one: pack_signature_invalid; no key at all: pack_signature_unverifiable', async () => {
    const right = signatureOf(acmeKeys, archiveAt(TOOLS, '1.0.0'));
    const forged = { ...right, publicKey: spki(keyPair().publicKey) };
    await refused(changed(TOOLS, { signature: forged }), 'pack_signature_invalid');
    // `tools` signs its whole archive, so a signature over its pack.json is none.
    const manual = { ...right, value: Buffer.from(manualSignature).toString('base64') };
    await refused(changed(TOOLS, { signature: manual }), 'pack_signature_invalid');
    const keyless = { ...right, publicKey: 'bm8ga2V5' };
    await refused(changed(TOOLS, { signature: keyless }), 'pack_signature_unverifiable');
  });
});

describe('the registry of an entry', () => {
  test('is the one of its address, else the one of the lockfile', async () => {
    const bare: PackLock = { ...lock, packs: lock.packs.map(({ resolved: _, ...entry }) => entry) };
    assert.deepEqual(await install(bare), [`${SHARED}@1.2.0`, `${TOOLS}@1.0.0`]);
    const { registry: _, ...bareer } = bare;
    assert.equal((await install(bareer)).length, 2);
  });

  test('an address elsewhere is not followed: pack_fetch_failed', async () => {
    const error = await refused(
      changed(TOOLS, { resolved: 'https://packs.example.evil/v1/packs/x.tgz' }),
      'pack_fetch_failed',
    );
    assert.match(error.message, /not one of the configured registries \(https:\/\/packs\.example\)/);
  });

  test('offline, only registries on this machine: pack_version_not_found', async () => {
    const offline = new Registries({ registries: [memoryRegistry(documents)], offline: true });
    const error = await failsWith(() => installPlan(lock, roots, offline), 'pack_version_not_found');
    assert.match(error.message, /offline/);
    const copy = memoryRegistry(documents, { reach: 'local' });
    const both = new Registries({ registries: [memoryRegistry(documents), copy], offline: true });
    assert.ok(installPlan(lock, roots, both).steps.every(({ registry }) => registry === copy));
  });
});
