/** Back-pressure, retention and hostile definitions, through the front door. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkflowDefinition } from '@gantry/protocol';
import { edge, node, variable, workflow } from '../testing/definitions.ts';
import { type TestHost, testHost } from '../testing/test-host.ts';

const DAY_MS = 86_400_000;
const JSON_HEADERS = { 'content-type': 'application/json' };

const post = (host: TestHost, url: string, body: unknown) =>
  host.request({ method: 'POST', url, payload: JSON.stringify(body), headers: JSON_HEADERS });

async function ended(host: TestHost, runId: string): Promise<{ status: string; error?: { code: string } }> {
  for (;;) {
    const { isTerminal, lastEventSeq } = (
      await host.request({ url: `/v1/runs/${runId}/events/poll?lastSequence=1000000&timeout=60` })
    ).json();
    if (isTerminal) return (await host.request({ url: `/v1/runs/${runId}` })).json();
    assert.ok(lastEventSeq >= 0);
  }
}

test('at the advertised cap, creates get 503 with the advertised Retry-After; waiting runs do not count', async (t) => {
  const effects = workflow('effects', [node('many', 'core.conformance.side-effect', { effects: 100 })]);
  const delayed = workflow('delayed', [node('wait', 'core.delay', { delayMs: 3_600_000 })]);
  const host = await testHost(t, { settings: { inflightCap: 2 }, workflows: [effects, delayed] });
  const { production } = (await host.request({ url: '/.well-known/openwop' })).json();
  assert.equal(production.backpressure.inflightCap, undefined, 'it counts runs in work, not requests');

  for (let i = 0; i < 5; i++) {
    const { runId } = (await post(host, '/v1/runs', { workflowId: 'delayed' })).json();
    const poll = await host.request({ url: `/v1/runs/${runId}/events/poll?lastSequence=0&timeout=60` });
    assert.equal(poll.json().events[0].type, 'node.started');
  }
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => post(host, '/v1/runs', { workflowId: 'effects' })),
  );
  const refused = answers.filter((answer) => answer.statusCode === 503);
  assert.equal(refused.length, 10, answers.map((answer) => answer.statusCode).join(' '));
  for (const answer of refused) {
    const { retryAfterSeconds } = production.backpressure;
    assert.equal(Number(answer.headers['retry-after']), retryAfterSeconds);
    assert.equal(answer.json().details.retryAfter, retryAfterSeconds);
  }
});

test('runs past their retention are gone, younger and waiting ones stay', async (t) => {
  let clock = Date.now();
  const host = await testHost(t, {
    settings: { retentionDays: 7 },
    workflows: [
      workflow('noop', [node('a', 'core.noop')]),
      workflow('wait', [node('w', 'core.delay', { delayMs: 20 * DAY_MS })]),
    ],
    now: () => clock,
  });
  const old = (await post(host, '/v1/runs', { workflowId: 'noop' })).json().runId;
  const waiting = (await post(host, '/v1/runs', { workflowId: 'wait' })).json().runId;
  await ended(host, old);
  clock += 8 * DAY_MS;
  const young = (await post(host, '/v1/runs', { workflowId: 'noop' })).json().runId;
  await ended(host, young);
  assert.equal(await host.host.sweep(), 1);
  assert.equal((await host.request({ url: `/v1/runs/${old}` })).statusCode, 410);
  assert.equal((await host.request({ url: `/v1/runs/${young}` })).statusCode, 200);
  assert.equal((await host.request({ url: `/v1/runs/${waiting}` })).statusCode, 200);
});

const doubling = Object.fromEntries(
  Array.from({ length: 40 }, (_, i) => [
    `d${i}`,
    { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
  ]),
);
const nested = (depth: number): Record<string, unknown> =>
  depth === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(depth - 1) } };

const hostileSchemas: [name: string, schema: Record<string, unknown>][] = [
  ['doubling references', { $ref: '#/$defs/d0', $defs: { ...doubling, d40: { type: 'object' } } }],
  ['deep schema', nested(200)],
  ['huge schema', { enum: Array.from({ length: 20_000 }, (_, i) => `value-${i}`) }],
  ['remote reference', { $ref: 'https://example.com/schema.json' }],
  ['quadratic uniqueness', { type: 'array', uniqueItems: true }],
];

const aaaa = `${'a'.repeat(60_000)}!`;
const hostileRuns: [name: string, definition: WorkflowDefinition][] = [
  [
    'catastrophic pattern in a condition',
    workflow(
      'regex',
      [
        node('a', 'core.identity', {}, { inputs: { output: { type: 'static', value: aaaa } } }),
        node('b', 'core.noop'),
      ],
      {
        edges: [edge('a', 'b', { condition: { type: 'regex', left: 'output', right: '^(a+)+$' } })],
      },
    ),
  ],
  [
    'nested comprehensions over a large list',
    workflow(
      'expression',
      [
        node(
          'a',
          'core.identity',
          {},
          {
            inputs: {
              n: {
                type: 'expression',
                expression:
                  'variables.list.map(x, variables.list.map(y, variables.list.filter(z, z == x && y == z)))',
              },
            },
          },
        ),
      ],
      {
        variables: [
          { name: 'list', type: 'array', defaultValue: Array.from({ length: 5_000 }, (_, i) => i) },
        ],
      },
    ),
  ],
  [
    'a loop without an end',
    workflow('endless', [node('a', 'core.noop'), node('b', 'core.noop')], {
      edges: [edge('a', 'b'), edge('b', 'a')],
    }),
  ],
  [
    'a pattern from a variable',
    workflow(
      'matches',
      [
        node(
          'a',
          'core.identity',
          {},
          {
            inputs: {
              r: { type: 'expression', expression: `variables.text.matches('(x+x+)+y')` },
              t: variable('text'),
            },
          },
        ),
      ],
      {
        variables: [{ name: 'text', type: 'string', defaultValue: 'x'.repeat(50_000) }],
      },
    ),
  ],
];

/** The most work between two turns of the loop, in time of this thread: what others on the machine do is left out. */
function watchLoop(): { longestMs(): number } {
  let longest = 0;
  let before = process.threadCpuUsage();
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, user + system);
    before = process.threadCpuUsage();
  };
  // Whatever fails: a timer that nobody clears keeps no process alive.
  const timer = setInterval(look, 1).unref();
  return {
    longestMs() {
      clearInterval(timer);
      look();
      return longest / 1_000;
    },
  };
}

test('hostile definitions are refused or bounded, and the loop keeps turning', async (t) => {
  const host = await testHost(t);
  await post(host, '/v1/host/gantry/workflows', workflow('warm', [node('a', 'core.noop')]));
  const loop = watchLoop();
  for (const [name, configurableSchema] of hostileSchemas) {
    const answer = await post(
      host,
      '/v1/host/gantry/workflows',
      workflow('bad', [node('a', 'core.noop')], { configurableSchema }),
    );
    assert.equal(answer.statusCode, 400, `${name}: ${answer.body}`);
  }
  for (const [name, definition] of hostileRuns) {
    const registered = await post(host, '/v1/host/gantry/workflows', definition);
    if (registered.statusCode === 400) continue;
    assert.equal(registered.statusCode, 201, `${name}: ${registered.body}`);
    const { runId } = (await post(host, '/v1/runs', { workflowId: definition.id })).json();
    const run = await ended(host, runId);
    assert.ok(['completed', 'failed'].includes(run.status), `${name}: ${run.status}`);
  }
  const maxMs = loop.longestMs();
  t.diagnostic(`longest stall ${maxMs.toFixed(0)} ms`);
  assert.ok(maxMs < 500, `the loop stalled for ${maxMs} ms`);
});
