import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  cli,
  KEY,
  type Routes,
  RUN,
  runHere,
  runLog,
  startCli,
  startTestHost,
  type TestEvent,
} from './testing/test-host.ts';

const CREATED: Routes = {
  'POST /v1/runs': {
    status: 201,
    body: {
      runId: RUN,
      status: 'pending',
      eventsUrl: `/v1/runs/${RUN}/events`,
      statusUrl: `/v1/runs/${RUN}`,
    },
  },
};

const runOf = (stream: readonly TestEvent[]): Routes => ({
  ...CREATED,
  [`GET /v1/runs/${RUN}/events`]: { stream },
  'GET /v1/workflows/hello': {
    status: 200,
    body: {
      id: 'hello',
      nodes: [
        { id: 'a', name: 'Fetch' },
        { id: 'b', name: 'Store' },
      ],
    },
  },
});

const COMPLETED = runLog(
  ['run.started', { workflowId: 'hello' }],
  ['node.started', { nodeId: 'a', typeId: 'core.noop', attempt: 0 }],
  ['node.completed', { nodeId: 'a', durationMs: 1234 }],
  ['node.skipped', { nodeId: 'b', reason: 'condition is false' }],
  ['run.completed', { durationMs: 1500, outputs: { greeting: 'hi' } }],
);

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gantry-cli-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

test('run prints the id and how to watch', async (t) => {
  const host = await startTestHost(t, CREATED);
  const done = await cli(host, 'run', 'hello', '--input', 'count=3', '-i', 'name=Ada', '-i', 'expr=a=b');
  assert.equal(done.code, 0, done.stderr);
  assert.equal(done.stdout, `${RUN}\nWatch it: gantry events ${RUN} --follow\n`);
  assert.deepEqual(host.seen.at(-1)?.body, {
    workflowId: 'hello',
    inputs: { count: 3, name: 'Ada', expr: 'a=b' },
  });
});

test('run --watch shows a plain line per step and exits 0', async (t) => {
  const host = await startTestHost(t, runOf(COMPLETED));
  const done = await cli(host, 'run', 'hello', '--watch');
  assert.equal(done.code, 0, done.stderr);
  assert.equal(
    done.stdout,
    [
      `hello ${RUN}`,
      '  ✓ Fetch           1.2s',
      '  - Store                 condition is false',
      'completed in 1.5s',
      '{\n  "greeting": "hi"\n}\n',
    ].join('\n'),
  );
});

test('a failed run exits 1 and says how to go on; control characters are taken out', async (t) => {
  const error = { code: 'node_failed', message: 'no \u001b[2Jluck\u0007' };
  const host = await startTestHost(
    t,
    runOf(
      runLog(
        ['node.started', { nodeId: 'a', typeId: 't' }],
        ['node.failed', { nodeId: 'a', error }],
        ['run.failed', { error, failedNodeId: 'a' }],
      ),
    ),
  );
  const done = await cli(host, 'run', 'hello', '--watch');
  assert.equal(done.code, 1);
  assert.match(done.stdout, / {2}✗ Fetch {10}100ms {2}node_failed: no luck/);
  assert.match(done.stdout, new RegExp(`failed: node_failed: no luck ?\nWhy: gantry explain ${RUN}\n$`));
  assert.ok(!done.stdout.includes('\u001b') && !done.stdout.includes('\u0007'));
});

test('a cancelled run exits 3', async (t) => {
  const host = await startTestHost(t, runOf(runLog(['run.cancelled', { reason: 'enough' }])));
  const done = await cli(host, 'run', 'hello', '--watch');
  assert.equal(done.code, 3);
  assert.match(done.stdout, /cancelled: enough\n$/);
});

test('run --watch --json prints the events, one per line', async (t) => {
  const host = await startTestHost(t, runOf(COMPLETED));
  const done = await cli(host, 'run', 'hello', '--watch', '--json');
  assert.equal(done.code, 0);
  assert.deepEqual(
    done.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
    COMPLETED,
  );
});

test('a path is registered first; inputs come from a file and --input wins', async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(path.join(folder, 'flow.json'), '{"id":"flow"}');
  await writeFile(path.join(folder, 'inputs.json'), '{"a":1,"b":2}');
  const host = await startTestHost(t, {
    ...CREATED,
    'POST /v1/host/gantry/workflows': { status: 201, body: { workflowId: 'flow', hash: 'h', version: '1' } },
  });
  const args = ['run', './flow.json', '--input-file', 'inputs.json', '--input', 'b=3', '--json'];
  const env = { GANTRY_URL: host.url, GANTRY_API_KEY: KEY };
  const done = await runHere(args, { cwd: folder, env });
  assert.equal(done.code, 0, done.stderr);
  assert.equal(JSON.parse(done.stdout).runId, RUN);
  assert.deepEqual(
    host.seen.filter(({ method }) => method === 'POST').map(({ body }) => body),
    [{ id: 'flow' }, { workflowId: 'flow', inputs: { a: 1, b: 3 } }],
  );
});

test('--timeout ends the watch, not the run, with exit 2', async (t) => {
  const host = await startTestHost(t, runOf(COMPLETED.slice(0, 2)));
  const done = await cli(host, 'run', 'hello', '--watch', '--timeout', '1');
  assert.equal(done.code, 2);
  assert.match(done.stderr, new RegExp(`Not finished after 1 s; the run goes on.*gantry cancel ${RUN}`, 's'));
});

test('Ctrl-C ends the watch, not the run, with exit 130', async (t) => {
  const host = await startTestHost(t, runOf(COMPLETED.slice(0, 3)));
  const env = { GANTRY_URL: host.url, GANTRY_API_KEY: KEY };
  const started = startCli(['run', 'hello', '--watch'], { env });
  await started.says('Fetch');
  started.kill('SIGINT');
  const done = await started.finished;
  assert.equal(done.code, 130);
  assert.match(done.stderr, /Stopped watching; the run goes on/);
  assert.ok(host.seen.every(({ path }) => !path.includes('cancel')));
});

test('an unknown workflow is named, with what was probably meant or where to look', async (t) => {
  const body = { workflows: [{ workflowId: 'hello' }] };
  const host = await startTestHost(t, { 'GET /v1/host/gantry/workflows': { status: 200, body } });
  const slip = await cli(host, 'run', 'helo');
  assert.deepEqual(
    [slip.code, slip.stderr],
    [2, 'gantry: There is no workflow "helo". Did you mean hello?\n'],
  );
  const done = await cli(await startTestHost(t), 'run', 'helo');
  assert.equal(done.stderr, 'gantry: There is no workflow "helo". See what there is: gantry workflows\n');
});

test('files that cannot be used are named', async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(path.join(folder, 'bad.json'), '{');
  await writeFile(path.join(folder, 'list.json'), '[]');
  const run = (...args: string[]) => runHere(['run', ...args], { cwd: folder });
  const [missing, bad, list] = await Promise.all([
    run('./none.json'),
    run('./bad.json'),
    run('hello', '--input-file', 'list.json'),
  ]);
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, /Cannot read .*none\.json \(ENOENT\)/);
  assert.match(bad.stderr, /bad\.json:1:2: Expected a key/);
  assert.match(list.stderr, /list\.json must hold an object/);
});

test('a value that reading would change is refused before anything is sent', async (t) => {
  const host = await startTestHost(t, CREATED);
  for (const input of ['n=12345678901234567890', 'o={"a":1,"a":2}']) {
    const { code, stderr } = await cli(host, 'run', 'hello', '--input', input);
    assert.equal(code, 2);
    assert.match(stderr, /send it as text|duplicate member/);
  }
  assert.deepEqual(host.seen, []);
});
