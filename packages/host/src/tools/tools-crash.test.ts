/**
 * kill -9 while a node calls a server: nothing recorded is done again, and no event stands without its record. The long
 * form is by both tools on both databases, or the one that GANTRY_SOAK_FORM names.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject, RunEventDoc } from '@gantry/protocol';
import { node, workflow } from '../testing/definitions.ts';
import { DATABASES, type Database, killInRounds, ROUNDS } from '../testing/kill-rounds.ts';
import { onPublicNetwork, publicCertificate, publicServer } from '../testing/public-network.ts';

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
  blow: (Blow & { strike(): void }) | undefined;
}

async function openServer(t: TestContext): Promise<Server> {
  const opened: Omit<Server, 'origin'> = { seen: new Map(), blow: undefined };
  const origin = await publicServer(t, async ({ url = '' }, response) => {
    opened.seen.set(url, (opened.seen.get(url) ?? 0) + 1);
    const { blow } = opened;
    if (!blow || !url.endsWith(`/${blow.call}`)) return void response.end(url);
    opened.blow = undefined;
    if (blow.afterMs === null) return blow.strike();
    response.end(url);
    await delay(blow.afterMs);
    blow.strike();
  });
  return Object.assign(opened, { origin });
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

async function killCalls(t: TestContext, tool: string, database: Database): Promise<void> {
  const server = await openServer(t);
  const told: string[] = [];
  const pack = { requires: ['net.outbound'], nodes: { [TYPE]: { body: bodyOf(tool), role: 'side-effect' } } };
  await killInRounds(t, database, {
    async settings({ workflowsDir }) {
      const NODE_EXTRA_CA_CERTS = `${workflowsDir}/../server.pem`;
      await writeFile(NODE_EXTRA_CA_CERTS, publicCertificate);
      return { NODE_EXTRA_CA_CERTS };
    },
    install: (calls) =>
      calls.install([pack], [workflow('calls', [node('a', TYPE, { origin: server.origin })])]),
    async start(round, calls) {
      const struck = Promise.withResolvers<void>();
      server.blow = { ...blowOf(round), strike: struck.resolve };
      return { runId: await calls.start('calls'), struck: struck.promise };
    },
    sound: (round, runId, events) => void told.push(...assertSound(round, runId, events, server)),
    async kept(store) {
      for (const callId of told) {
        const record = await store.records.invocation('default', callId);
        assert.ok(record?.outcome, `${callId} stands in a log without its record`);
      }
    },
  });
}

await onPublicNetwork(import.meta, () => {
  for (const [name, tool] of Object.entries(TOOLS))
    for (const [kind, open] of Object.entries(DATABASES)) {
      const form = `${name}-${kind}`;
      if (isWanted(form))
        test(`kill -9 in ${ROUNDS} rounds: ${form}`, async (t) => {
          const database = await open(t);
          if (typeof database === 'string') return t.skip(database);
          await killCalls(t, tool, database);
        });
    }
});
