/** A surface on resources: what a node and a person do with the same methods. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { Changes } from '@gantry/resources';
import { CommitPipeline, openSqlite } from '@gantry/store';
import Type from 'typebox';
import { freshFolder } from '../testing/data-dir.ts';
import { implementNotes } from '../testing/notes/surface.ts';
import { callGateOf, nodeOf } from '../testing/test-call-gate.ts';
import type { DataObject } from './data.ts';
import { defineSurface } from './define-surface.ts';
import type { PersonFacts } from './surface-call.ts';

const ADA: PersonFacts = { owner: { tenant: 'acme', workspace: 'main', principal: 'ada' } };

async function openNotes(t: TestContext) {
  const folder = freshFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(async () => {
    await store.close();
    folder.remove();
  });
  const changes = new Changes({ store, pipeline: new CommitPipeline(store), now: Date.now, randomBytes });
  const epoch = await store.leases.acquire('host-1', Date.now(), 60_000);
  const world = callGateOf([implementNotes({ changes, store })]);
  const { signal } = new AbortController();
  const asPerson = (path: string, input: DataObject, person = ADA): Promise<DataObject> =>
    world.callGate.callForPerson(person, { path, input, signal }) as Promise<DataObject>;
  const work = { epoch, tell: async () => null };
  const asNode = (nodeId = 'n1') => nodeOf(world, { nodeId, work });
  return { world, asPerson, asNode };
}

test('a node and a person change the same notes, and others of another workspace see none', async (t) => {
  const { asNode, asPerson } = await openNotes(t);
  const node = asNode();
  const { noteId } = (await node('notes.create', { title: 'today' })) as { noteId: string };
  await asPerson('notes.append', { noteId, line: 'one' });
  await node('notes.append', noteId, 'two');
  const note = { noteId, title: 'today', lines: ['one', 'two'], archived: false };
  assert.deepEqual(await node('notes.get', noteId), note);
  assert.deepEqual(await asPerson('notes.list', {}), { notes: [note] });
  const elsewhere = { owner: { ...ADA.owner, workspace: 'other' } };
  assert.deepEqual(await asPerson('notes.list', {}, elsewhere), { notes: [] });
  await assert.rejects(asPerson('notes.get', { noteId }, elsewhere), { code: 'not_found' });
  assert.deepEqual(await asPerson('notes.remove', { noteId }), { deleted: true });
});

test('a node that runs again, and a request that is repeated, get the recorded answer', async (t) => {
  const { asNode, asPerson } = await openNotes(t);
  const first = await asNode()('notes.create', { title: 'a' });
  assert.deepEqual(await asNode()('notes.create', { title: 'a' }), first);
  assert.deepEqual(await asNode()('notes.create', { title: 'b' }), first);
  const request = {
    tenant: 'acme',
    operation: 'notes.create',
    key: 'k',
    digest: 'd',
    expiresAt: Date.now() + 60_000,
  };
  const ada = { ...ADA, request };
  const made = await asPerson('notes.create', { title: 'c' }, ada);
  assert.deepEqual(await asPerson('notes.create', { title: 'c' }, ada), made);
  const again = asPerson('notes.create', { title: 'd' }, { ...ADA, request: { ...request, digest: 'e' } });
  await assert.rejects(again, { code: 'idempotency_key_mismatch' });
  const { notes } = (await asPerson('notes.list', {})) as { notes: unknown[] };
  assert.equal(notes.length, 2);
});

test('a surface for packs alone is refused to people; input is checked for both', async (t) => {
  const { world, asPerson } = await openNotes(t);
  await assert.rejects(asPerson('notes.create', { name: 'x' }), { code: 'validation_error' });
  const clock = defineSurface({
    capability: 'clock',
    path: '',
    aliases: [],
    summary: 'Tells the time.',
    journal: 'own',
    limits: {},
    errors: [],
    methods: {
      timeIn: {
        effect: 'read',
        summary: 'The time.',
        input: Type.Object({ zone: Type.String(), format: Type.Optional(Type.String()) }),
        output: Type.Object({ zone: Type.String(), format: Type.String() }),
        positional: ['zone', 'format'],
      },
    },
  });
  const { callGate } = callGateOf([
    clock.implement({ timeIn: async ({ zone, format = 'iso' }) => ({ zone, format }) }),
  ]);
  const { signal } = new AbortController();
  const ask = callGate.callForPerson(ADA, { path: 'timeIn', input: { zone: 'UTC' }, signal });
  await assert.rejects(ask, {
    code: 'host_capability_missing',
    details: { capability: 'host.clock.timeIn' },
  });
  assert.deepEqual(callGate.table, { timeIn: 'unary' }, 'at the root of ctx');
  const node = nodeOf({ ...world, callGate: { ...callGate, open: (facts) => callGate.open(facts) } });
  assert.deepEqual(await node('timeIn', 'UTC'), { zone: 'UTC', format: 'iso' });
  assert.deepEqual(await node('timeIn', 'UTC', 'rfc'), { zone: 'UTC', format: 'rfc' });
  assert.deepEqual(await node('timeIn', { zone: 'CET' }), { zone: 'CET', format: 'iso' });
  await assert.rejects(node('timeIn', 'UTC', 'rfc', 'more'), {
    code: 'validation_error',
    message: 'ctx.timeIn takes (zone, format), or one object.',
  });
});
