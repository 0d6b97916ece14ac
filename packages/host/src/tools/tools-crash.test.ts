/** kill -9 while a node calls a server: nothing recorded is done again, and no event stands without its record. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { openSqlite } from '@gantry/store';
import { caller, hostPlaces, until } from '../packs/testing/host-lives.ts';
import { node, workflow } from '../testing/definitions.ts';
import { type HostProcess, startHostProcess } from '../testing/host-process.ts';

const ROUNDS = Number(process.env.GANTRY_SOAK_ROUNDS ?? 2);
const CALLS = 4;
const TYPE = 'vendor.acme.call';
const body = `
  const answers = [];
  for (let call = 0; call < ${CALLS}; call++) {
    const init = { method: call % 2 === 0 ? 'POST' : 'GET' };
    answers.push(await (await fetch(ctx.config.origin + '/' + ctx.runId + '/' + call, init)).text());
  }
  return { answers };`;

/** When the host dies: with request `call`, before it is answered or so long after. */
interface Blow {
  readonly call: number;
  readonly afterMs: number | null;
}

/** The same rounds each time; a failure names its round. */
const blowOf = (round: number): Blow => ({
  call: round % CALLS,
  afterMs: Math.floor(round / CALLS) % 2 === 0 ? null : (round * 7) % 12,
});

interface Server {
  readonly origin: string;
  /** By path: how often it was asked for. */
  readonly seen: Map<string, number>;
  blow: (Blow & { strike(): Promise<void> }) | undefined;
}

async function openServer(t: TestContext): Promise<Server> {
  const server = createServer(async ({ url = '' }, response) => {
    opened.seen.set(url, (opened.seen.get(url) ?? 0) + 1);
    const { blow } = opened;
    if (!blow || !url.endsWith(`/${blow.call}`)) return void response.end(url);
    opened.blow = undefined;
    if (blow.afterMs === null) return void blow.strike();
    response.end(url);
    await delay(blow.afterMs);
    await blow.strike();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const opened: Server = { origin, seen: new Map(), blow: undefined };
  return opened;
}

/** Holds of the log of every run, whatever became of it. */
function assertSound(round: number, runId: string, events: readonly RunEventDoc[], server: Server): string[] {
  const calls = events.filter(({ type }) => type === 'agent.toolCalled');
  const returns = events.filter(({ type }) => type === 'agent.toolReturned');
  const ids = calls.map(({ payload }) => String(payload.callId));
  assert.equal(new Set(ids).size, ids.length, `round ${round}: a call is told twice`);
  for (const { payload, causationId } of returns)
    assert.equal(causationId, calls.find((called) => called.payload.callId === payload.callId)?.eventId);
  for (let call = 0; call < CALLS; call += 2) {
    const seen = server.seen.get(`/${runId}/${call}`) ?? 0;
    assert.ok(seen <= 1, `round ${round}: request ${call} was sent ${seen} times`);
  }
  const last = events.at(-1)!;
  const error = last.payload.error as JsonObject | undefined;
  if (last.type !== 'run.completed') assert.equal(error?.code, 'effect_in_doubt', JSON.stringify(last));
  assert.equal(returns.length, calls.length, `round ${round}: a call has no return`);
  return ids;
}

test(`kill -9 in ${ROUNDS} rounds`, async (t) => {
  const server = await openServer(t);
  const env = { GANTRY_EGRESS_ALLOW: `raw-fetch=${server.origin}`, GANTRY_PACK_TIMEOUT_SECONDS: '250' };
  const places = await hostPlaces(t, env);
  let host: HostProcess = await startHostProcess(places);
  t.after(() => host.kill());
  const flow = workflow('calls', [node('a', TYPE, { origin: server.origin })]);
  const pack = { requires: ['net.outbound'], nodes: { [TYPE]: { body, role: 'side-effect' } } };
  await caller(host.url).install([pack], [flow]);
  const told: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const struck = Promise.withResolvers<void>();
    const strike = async (): Promise<void> => {
      await host.kill();
      struck.resolve();
    };
    server.blow = { ...blowOf(round), strike };
    const runId = await caller(host.url).start('calls');
    await struck.promise;
    host = await startHostProcess(places);
    const events = await until(caller(host.url).poll(runId), (_, ended) => ended);
    told.push(...assertSound(round, runId, events, server));
  }
  await host.stop();
  const store = await openSqlite({ dataDir: places.dataDir });
  t.after(() => store.close());
  for (const callId of told) {
    const record = await store.records.invocation('default', callId);
    assert.ok(record?.outcome, `${callId} stands in a log without its record`);
  }
});
