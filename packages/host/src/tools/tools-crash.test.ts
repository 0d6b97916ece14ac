/**
 * kill -9 while a node calls a server: nothing recorded is done again, and no event stands without its record. The long
 * form is by both tools on both databases, or the one that GANTRY_SOAK_FORM names.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { openPostgres, openSqlite, type Store } from '@gantry/store';
import { freshDatabase } from '../../../store/src/testing/postgres-server.ts';
import { caller, hostPlaces, until } from '../packs/testing/host-lives.ts';
import { node, workflow } from '../testing/definitions.ts';
import { type HostProcess, startHostProcess } from '../testing/host-process.ts';
import { onPublicNetwork, publicCertificate, publicServer } from '../testing/public-network.ts';

const ROUNDS = Number(process.env.GANTRY_SOAK_ROUNDS ?? 1);
const SHORT_FORMS = ['fetch-sqlite', 'safeFetch-postgres'];
const FORM = process.env.GANTRY_SOAK_FORM;
const isWanted = (form: string): boolean =>
  FORM === undefined
    ? process.env.GANTRY_SOAK_ROUNDS !== undefined || SHORT_FORMS.includes(form)
    : FORM === form;
const TOOLS = { fetch: 'fetch', safeFetch: 'ctx.http.safeFetch' };
const CALLS = 4;
const TYPE = 'vendor.acme.call';
const bodyOf = (tool: string): string => `
  const answers = [];
  for (let call = 0; call < ${CALLS}; call++) {
    const init = { method: call % 2 === 0 ? 'POST' : 'GET' };
    answers.push(await (await ${tool}(ctx.config.origin + '/' + ctx.runId + '/' + call, init)).text());
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
  const opened: Omit<Server, 'origin'> = { seen: new Map(), blow: undefined };
  const origin = await publicServer(t, async ({ url = '' }, response) => {
    opened.seen.set(url, (opened.seen.get(url) ?? 0) + 1);
    const { blow } = opened;
    if (!blow || !url.endsWith(`/${blow.call}`)) return void response.end(url);
    opened.blow = undefined;
    if (blow.afterMs === null) return void blow.strike();
    response.end(url);
    await delay(blow.afterMs);
    await blow.strike();
  });
  return Object.assign(opened, { origin });
}

interface Database {
  /** Settings of the host. */
  readonly env: Readonly<Record<string, string>>;
  open(dataDir: string): Promise<Store>;
}

const DATABASES: Readonly<Record<string, (t: TestContext) => Promise<Database | string>>> = {
  sqlite: async () => ({ env: {}, open: (dataDir) => openSqlite({ dataDir }) }),
  async postgres(t) {
    const database = await freshDatabase();
    if ('skip' in database) return database.skip;
    t.after(database.drop);
    return { env: { GANTRY_DATABASE_URL: database.url }, open: () => openPostgres({ url: database.url }) };
  },
};

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

async function killInRounds(t: TestContext, tool: string, database: Database): Promise<void> {
  const server = await openServer(t);
  const env = { GANTRY_PACK_TIMEOUT_SECONDS: '250', ...database.env };
  const places = await hostPlaces(t, env);
  const NODE_EXTRA_CA_CERTS = `${places.workflowsDir}/../server.pem`;
  await writeFile(NODE_EXTRA_CA_CERTS, publicCertificate);
  const begin = () => startHostProcess({ ...places, env: { ...env, NODE_EXTRA_CA_CERTS } });
  let host: HostProcess = await begin();
  t.after(() => host.kill());
  const flow = workflow('calls', [node('a', TYPE, { origin: server.origin })]);
  const pack = { requires: ['net.outbound'], nodes: { [TYPE]: { body: bodyOf(tool), role: 'side-effect' } } };
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
    host = await begin();
    const events = await until(caller(host.url).poll(runId), (_, ended) => ended);
    told.push(...assertSound(round, runId, events, server));
  }
  await host.stop();
  const store = await database.open(places.dataDir);
  t.after(() => store.close());
  for (const callId of told) {
    const record = await store.records.invocation('default', callId);
    assert.ok(record?.outcome, `${callId} stands in a log without its record`);
  }
}

await onPublicNetwork(import.meta, () => {
  for (const [name, tool] of Object.entries(TOOLS))
    for (const [kind, open] of Object.entries(DATABASES)) {
      const form = `${name}-${kind}`;
      if (isWanted(form))
        test(`kill -9 in ${ROUNDS} rounds: ${form}`, async (t) => {
          const database = await open(t);
          if (typeof database === 'string') return t.skip(database);
          await killInRounds(t, tool, database);
        });
    }
});
