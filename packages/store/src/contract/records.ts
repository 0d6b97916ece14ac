import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import type { CurrentStore } from '../contract.ts';
import * as make from './fixtures.ts';
import { bigText, MEGABYTE, TENANT, win } from './fixtures.ts';

export function recordContract(current: CurrentStore): void {
  describe('records', () => {
    workflowTests(current);
    keyTests(current);

    test('a definition keeps its first body', async () => {
      const { store } = current();
      await win(store, { kind: 'putDefinition', hash: 'h', body: '{"a":1}' });
      await win(store, { kind: 'putDefinition', hash: 'h', body: '{"a":2}' });
      assert.equal(await store.records.definition('h'), '{"a":1}');
      assert.equal(await store.records.definition('other'), null);
    });

    test('content keeps its first bytes until it is deleted', async () => {
      const { store } = current();
      const bytes = randomBytes(MEGABYTE);
      await win(store, { kind: 'putContent', hash: 'h', bytes });
      await win(store, { kind: 'putContent', hash: 'h', bytes: new Uint8Array([0, 255]) });
      assert.deepEqual(Buffer.from((await store.records.content('h')) ?? []), bytes);
      assert.equal(await store.records.content('other'), null);
      const lost = {
        kind: 'expectEntry',
        key: { kind: 'k', tenant: TENANT, id: 'none' },
        version: 1,
      } as const;
      assert.equal((await store.commit([[{ kind: 'deleteContent', hash: 'h' }, lost]]))[0]?.won, false);
      assert.deepEqual(Buffer.from((await store.records.content('h')) ?? []), bytes);
      await win(store, { kind: 'deleteContent', hash: 'h' });
      assert.equal(await store.records.content('h'), null);
    });

    test('big bodies come back', async () => {
      const { store } = current();
      const big = bigText(MEGABYTE);
      await win(
        store,
        { kind: 'putDefinition', hash: 'h', body: big },
        make.idempotency('key', { body: big }),
        make.claimInvocation('call'),
        make.settleInvocation('call', big),
      );
      assert.equal(await store.records.definition('h'), big);
      assert.equal((await store.records.idempotency(TENANT, 'POST /v1/runs', 'key'))?.body, big);
      assert.equal((await store.records.invocation(TENANT, 'call'))?.outcome, big);
    });

    test('pending events of a record are written once', async () => {
      const { store } = current();
      const settled = { outcome: '{"ok":true}', claimId: null };
      await win(store, make.claimInvocation('call', { ...settled, eventsPending: true }));
      await win(store, make.claimInvocation('other', settled), make.claimInvocation('open'));
      assert.equal((await store.records.invocation(TENANT, 'call'))?.eventsPending, true);
      const tell = [make.create('run'), make.tellInvocation('call')];
      const lost = { won: false, reason: 'stale' };
      assert.deepEqual(
        await store.commit([
          tell,
          [make.tellInvocation('call')],
          [make.create('run-2'), make.tellInvocation('other')],
          [make.tellInvocation('open')],
          [make.tellInvocation('call', 'alien')],
        ]),
        [
          { won: true },
          { ...lost, write: 0 },
          { ...lost, write: 1 },
          { ...lost, write: 0 },
          { ...lost, write: 0 },
        ],
      );
      const told = await store.records.invocation(TENANT, 'call');
      assert.deepEqual([told?.eventsPending, told?.outcome], [false, settled.outcome]);
      assert.equal(await store.runs.row(TENANT, 'run-2'), null);
    });

    test('open claims of a run are listed by their time', async () => {
      const { store } = current();
      const claim = (id: string, claimedAt: number, over = {}) =>
        make.claimInvocation(id, { runId: 'run-1', claimedAt, ...over });
      await win(store, claim('b', 2), claim('a', 1), claim('c', 3), claim('d', 4, { runId: 'run-2' }));
      await win(store, make.settleInvocation('c'), claim('e', 5, { tenant: 'other' }));
      const open = await store.records.openClaims(TENANT, 'run-1', 10);
      assert.deepEqual(
        open.map(({ invocationId }) => invocationId),
        ['a', 'b'],
      );
      assert.equal((await store.records.openClaims(TENANT, 'run-1', 1)).length, 1);
    });

    test('I4: idempotency records and invocations belong to their tenant', async () => {
      const { store } = current();
      await win(store, make.idempotency('key'), make.claimInvocation('call'));
      await win(store, make.claimInvocation('call', { tenant: 'other' }));
      assert.equal(await store.records.idempotency('other', 'POST /v1/runs', 'key'), null);
      assert.equal(await store.records.invocation('third', 'call'), null);
      assert.equal((await store.records.invocation('other', 'call'))?.tenant, 'other');
    });
  });
}

function workflowTests(current: CurrentStore): void {
  const put = (workflowId: string, hash: string, over = {}) =>
    ({ kind: 'putWorkflow', record: make.workflowRecord(workflowId, hash, over) }) as const;

  test('the latest put is current, earlier versions stay listed, one that comes again is current again', async () => {
    const { store } = current();
    const hashes = async () =>
      (await store.records.workflowVersions(TENANT, 'wf')).map((version) => version.hash);
    await win(store, put('wf', 'h1'));
    await win(store, put('wf', 'h2'), put('wf', 'h3', { version: '3.0.0' }));
    assert.deepEqual(await hashes(), ['h3', 'h2', 'h1']);
    assert.deepEqual(
      await store.records.workflow(TENANT, 'wf'),
      make.workflowRecord('wf', 'h3', { version: '3.0.0' }),
    );
    const again = { registeredAt: 9_000, registeredBy: '{"principal":"p"}' };
    await win(store, put('wf', 'h1', again));
    assert.deepEqual(await hashes(), ['h1', 'h3', 'h2']);
    assert.deepEqual(await store.records.workflow(TENANT, 'wf'), make.workflowRecord('wf', 'h1', again));
  });

  test('deleting a workflow takes all its versions, of one tenant, and what is put after it stays', async () => {
    const { store } = current();
    await win(store, put('wf', 'h1'), put('wf', 'h2'), put('wf', 'h1', { tenant: 'other' }), put('wg', 'h1'));
    const deletion = { kind: 'deleteWorkflow', tenant: TENANT, workflowId: 'wf' } as const;
    const listed = async () =>
      (await store.records.workflows(TENANT)).map(({ workflowId, hash }) => `${workflowId} ${hash}`);
    await win(store, deletion);
    assert.deepEqual(await listed(), ['wg h1']);
    assert.deepEqual(await store.records.workflowVersions(TENANT, 'wf'), []);
    assert.equal((await store.records.workflow('other', 'wf'))?.hash, 'h1');
    await win(store, put('wf', 'h3'), deletion, put('wf', 'h4'));
    assert.deepEqual(await listed(), ['wf h4', 'wg h1']);
  });

  test('the definitions that runs are pinned to are listed once, whoever runs them', async () => {
    const { store } = current();
    assert.deepEqual(await store.records.pinnedHashes(), []);
    const create = (runId: string, tenant: string, workflowHash: string) =>
      win(store, make.create(runId, { facts: { tenant, workflowHash } }));
    await create('run-1', TENANT, 'h1');
    await create('run-2', TENANT, 'h1');
    await create('run-3', 'other', 'h2');
    assert.deepEqual((await store.records.pinnedHashes()).sort(), ['h1', 'h2']);
  });

  test('own workflows come before shared ones; those of others are not seen', async () => {
    const { store } = current();
    await win(store, put('both', 'own'), put('both', 'shared', { tenant: '*' }));
    await win(store, put('shared', 's1', { tenant: '*' }), put('shared', 's2', { tenant: '*' }));
    await win(store, put('alien', 'a', { tenant: 'other' }), put('mine', 'm1'), put('mine', 'm2'));
    const listed = (await store.records.workflows(TENANT)).map((each) => [each.workflowId, each.hash]);
    assert.deepEqual(listed, [
      ['both', 'own'],
      ['mine', 'm2'],
      ['shared', 's2'],
    ]);
    assert.equal((await store.records.workflow(TENANT, 'both'))?.hash, 'own');
    assert.equal((await store.records.workflow('other', 'both'))?.hash, 'shared');
    assert.equal(await store.records.workflow(TENANT, 'alien'), null);
    assert.deepEqual(await store.records.workflowVersions(TENANT, 'alien'), []);
    assert.equal((await store.records.workflowVersions(TENANT, 'shared')).length, 2);
  });
}

function keyTests(current: CurrentStore): void {
  test('keys are replaced by id, listed for their tenant and found by hash', async () => {
    const { store } = current();
    const first = make.keyRecord('k1');
    const second = make.keyRecord('k2', { createdAt: 2_000, expiresAt: 5_000, scopes: [] });
    const alien = make.keyRecord('k3', { tenant: 'other' });
    await win(store, ...[first, second, alien].map((record) => ({ kind: 'putKey', record }) as const));
    assert.deepEqual(await store.records.keys(TENANT), [first, second]);
    assert.deepEqual(await store.records.keyByHash('hash-of-k3'), alien);
    assert.equal(await store.records.keyByHash('none'), null);
    const revoked = { ...first, revokedAt: 3_000 };
    await win(store, { kind: 'putKey', record: revoked });
    assert.deepEqual(await store.records.keys(TENANT), [revoked, second]);
  });
}
