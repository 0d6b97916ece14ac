import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { COMMANDS } from './commands/index.ts';
import { commandHelp, overview } from './help.ts';
import { cli, KEY, type Routes, RUN, runHere, runLog, startCli, startTestHost } from './testing/test-host.ts';

const WALLED = { isolation: 'unshare', filtered: true, python: '3.11.2', problems: [] };

const storage = (body: object, status = 200, sandbox: object = WALLED): Routes => ({
  'GET /v1/host/gantry/surfaces': { status, body },
  'GET /v1/host/gantry/sandbox': { status: 200, body: sandbox },
});

test('help: the first lines say what to type, and every command has its line', () => {
  const text = overview(COMMANDS, '1.2.3');
  assert.ok(text.startsWith('Gantry 1.2.3'));
  assert.match(text, /Start here:\n {2}gantry start\n {2}gantry run hello --watch\n/);
  for (const { name, summary } of COMMANDS)
    assert.ok(text.includes(`  ${name} `) && text.includes(summary), name);
});

test('help of each command: usage, every option, examples that start with the command', () => {
  for (const command of COMMANDS) {
    const text = commandHelp(command);
    assert.ok(text.includes(`Usage: gantry ${command.usage}`), command.name);
    assert.ok(command.usage.startsWith(command.name), command.name);
    for (const option of Object.keys(command.options))
      assert.ok(text.includes(`--${option}`), `${command.name} ${option}`);
    for (const example of command.examples) assert.ok(example.startsWith(`gantry ${command.name}`), example);
  }
});

test('help of cancel, whole', async () => {
  const expected = [
    'Cancel a run.',
    '',
    'Usage: gantry cancel <runId> [--reason TEXT]',
    '',
    'Options:',
    '  --reason TEXT  kept in the log of the run',
    '  --url URL      the host (GANTRY_URL; http://127.0.0.1:7070)',
    '  --key KEY      API key (GANTRY_API_KEY; better there than in shell history)',
    "  --data DIR     the host's data folder (GANTRY_DATA_DIR; ./.gantry)",
    '  -h, --help     show help',
    '',
    'Examples:',
    '  gantry cancel RUN --reason "wrong input"',
    '',
  ].join('\n');
  for (const args of [
    ['help', 'cancel'],
    ['cancel', '--help'],
    ['cancel', '-h'],
  ]) {
    assert.deepEqual(await runHere(args), { code: 0, stdout: expected, stderr: '' });
  }
});

test('a failure of a --json command is one object on stderr, with its code', async () => {
  const failure = async (...args: string[]) => {
    const { code, stdout, stderr } = await runHere(args);
    assert.deepEqual([code, stdout], [2, '']);
    return JSON.parse(stderr);
  };
  const misspelt = await failure('runs', '--json', '--limt', '5');
  assert.deepEqual([misspelt.error, /Did you mean --limit/.test(misspelt.message)], ['usage', true]);
  const away = await failure('runs', '--json', '--url', 'http://127.0.0.1:9');
  assert.equal(away.error, 'host_unreachable');
});

test('usage errors exit 2, name the nearest, and leave stdout empty', async () => {
  const cases: [string[], RegExp][] = [
    [['rnus'], /Unknown command "rnus"\. Did you mean runs\?/],
    [['--ulr', 'http://x', 'runs'], /Unknown option --ulr\. Did you mean --url\?/],
    [['frobnicate'], /Unknown command "frobnicate"\. See `gantry help`/],
    [['runs', '--limt', '5'], /no option --limt\. Did you mean --limit\?/],
    [['runs', '--limit', 'many'], /--limit must be a whole number from 1 to 100, not "many"/],
    [['runs', '--limit'], /--limit needs a value: --limit N/],
    [['runs', '--json=yes'], /--json takes no value/],
    [['runs', '--status', 'faild'], /no status "faild"\. Did you mean failed\?/],
    [['events'], /missing\. Usage: gantry events <runId>/],
    [['events', 'a', 'b'], /Unexpected argument "b"/],
    [['run', 'hello', '--input', 'nonsense'], /--input takes name=value/],
    [['run', 'hello', '--timeout', '3'], /use it with --watch/],
    [['keys', 'crate', 'x'], /Did you mean create\?/],
    [['keys', 'create', 'x', '--scopes', 'runs:raed'], /no scope "runs:raed"\. Did you mean runs:read\?/],
    [['--url', 'http://x'], /A command is missing/],
    [['runs', '--url', 'localhost:7070'], /not an http\(s\) URL/],
  ];
  for (const [args, message] of cases) {
    const { code, stdout, stderr } = await runHere(args);
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, message);
    assert.equal(stdout, '');
  }
});

test('a host that is not there exits 2 and says what to do', async () => {
  const done = await runHere(['runs', '--url', 'http://127.0.0.1:2']);
  assert.equal(done.code, 2);
  assert.match(
    done.stderr,
    /Cannot reach the host at http:\/\/127\.0\.0\.1:2.*Is it running\?.*gantry start.*\nName another host with --url or GANTRY_URL\./,
  );
});

test('without a URL the host is the one of GANTRY_PORT', async () => {
  const at = async (env: Record<string, string>) =>
    (await runHere(['runs'], { env: { GANTRY_URL: '', ...env } })).stderr;
  assert.match(await at({ GANTRY_PORT: '2' }), /at http:\/\/127\.0\.0\.1:2 /);
  assert.match(await at({ GANTRY_PORT: '2', GANTRY_URL: 'http://127.0.0.1:3' }), /:3 /);
});

test('the key comes from the flag, else from the environment', async (t) => {
  const host = await startTestHost(t);
  const GANTRY_URL = host.url;
  const codeWith = async (env: Record<string, string>, ...args: string[]) =>
    (await runHere(['runs', ...args], { env: { GANTRY_URL, ...env } })).code;
  assert.equal(await codeWith({ GANTRY_API_KEY: 'wrong' }, '--key', KEY), 0);
  assert.equal(await codeWith({ GANTRY_API_KEY: KEY }), 0);
  const none = await runHere(['runs'], { env: { GANTRY_URL } });
  assert.equal(none.code, 2);
  assert.match(none.stderr, /GANTRY_API_KEY or --key/);
});

test('runs lists as a table or JSON, and sends its filters', async (t) => {
  const run = { runId: RUN, workflowId: 'hello', status: 'completed' };
  const page = {
    runs: [{ ...run, createdAt: '2026-01-01T00:00:00.000Z', endedAt: '2026-01-01T00:00:02.500Z' }],
    nextBefore: 'cursor',
  };
  const host = await startTestHost(t, { 'GET /v1/host/gantry/runs': { status: 200, body: page } });
  const done = await cli(host, 'runs', '--status', 'completed', '--workflow', 'hello', '--limit', '1');
  assert.match(
    done.stdout,
    /^RUN +WORKFLOW +STATUS +CREATED +TOOK\nrun-1 +hello +completed +\S.* ago +2\.5s\n/,
  );
  assert.match(done.stdout, /More: gantry runs --before cursor\n$/);
  assert.equal(String(host.seen[0]?.query), 'status=completed&workflowId=hello&limit=1');
  assert.deepEqual(JSON.parse((await cli(host, 'runs', '--json')).stdout), page);
});

test('events prints what is recorded; --follow streams to the end', async (t) => {
  const log = runLog(
    ['run.started', { workflowId: 'w' }],
    ['node.completed', { nodeId: 'a' }],
    ['run.completed', {}],
  );
  const host = await startTestHost(t, {
    [`GET /v1/runs/${RUN}/events/poll`]: { status: 200, body: { runId: RUN, events: log, isTerminal: true } },
    [`GET /v1/runs/${RUN}/events`]: { stream: log },
  });
  const expected = [
    '    0  00:00:00.000  run.started         workflowId: w',
    '    1  00:00:00.100  node.completed      a',
    '    2  00:00:00.200  run.completed',
    '',
  ].join('\n');
  const [recorded, followed, json] = await Promise.all([
    cli(host, 'events', RUN),
    cli(host, 'events', RUN, '--follow'),
    cli(host, 'events', RUN, '--json'),
  ]);
  assert.equal(recorded.stdout, expected);
  assert.equal(followed.stdout, expected);
  assert.deepEqual(
    json.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
    log,
  );
});

test('cancel, pause and resume say the new status', async (t) => {
  const host = await startTestHost(t, {
    [`POST /v1/runs/${RUN}/cancel`]: { status: 200, body: { runId: RUN, status: 'cancelling' } },
    [`POST /v1/runs/${RUN}:pause`]: { status: 202, body: { runId: RUN, status: 'paused' } },
    [`POST /v1/runs/${RUN}:resume`]: { status: 202, body: { runId: RUN, status: 'running' } },
  });
  assert.equal((await cli(host, 'cancel', RUN, '--reason', 'x')).stdout, `${RUN} cancelling\n`);
  assert.match(
    (await cli(host, 'pause', RUN, '--now')).stdout,
    /^run-1 paused\nGo on: gantry resume run-1\n$/,
  );
  assert.equal((await cli(host, 'resume', RUN)).stdout, `${RUN} running\n`);
  assert.deepEqual(
    host.seen.map(({ body }) => body),
    [{ reason: 'x' }, { drainPolicy: 'immediate' }, {}],
  );
});

test('a refusal shows message and details and exits 2', async (t) => {
  const body = {
    error: 'conflict',
    message: 'The run is over.',
    details: { retriable: false, runStatus: 'completed' },
  };
  const host = await startTestHost(t, { [`POST /v1/runs/${RUN}:pause`]: { status: 409, body } });
  const done = await cli(host, 'pause', RUN);
  assert.equal(done.code, 2);
  assert.match(done.stderr, /gantry: The run is over\.\n\{\n {2}"runStatus": "completed"\n\}\n/);
});

test('a new key goes to stdout alone', async (t) => {
  const made = { keyId: 'k1', key: 'hk_new', name: 'ci', tenant: 't', scopes: ['runs:read'], createdAt: '' };
  const host = await startTestHost(t, { 'POST /v1/host/gantry/keys': { status: 201, body: made } });
  const done = await cli(
    host,
    'keys',
    'create',
    'ci',
    '--scopes',
    'runs:read',
    '--expires-in',
    '60',
    '--test',
  );
  assert.equal(done.stdout, 'hk_new\n');
  assert.match(done.stderr, /shown only once/);
  assert.deepEqual(host.seen[0]?.body, {
    name: 'ci',
    scopes: ['runs:read'],
    test: true,
    expiresInSeconds: 60,
  });
});

test('a key whose time is over is listed as expired', async (t) => {
  const key = { keyId: 'k1', name: 'ci', tenant: 't', scopes: [], createdAt: '', expiresAt: '2020-01-01' };
  const host = await startTestHost(t, { 'GET /v1/host/gantry/keys': { status: 200, body: { keys: [key] } } });
  assert.match((await cli(host, 'keys', 'ls')).stdout, /^k1 +ci +t +expired/m);
});

test('explain says what the run waits for, why and where it failed, and what to type', async (t) => {
  const details = { at: 'order.mjs:2:22', stack: ['order.mjs:2:22', 'index.mjs:195:22', '/etc: x'] };
  const body = {
    runId: RUN,
    status: 'failed',
    summary: 'The run failed.',
    waitingFor: [{ kind: 'retry', text: 'a is tried again.', since: '2026-01-01T00:00:00.000Z' }],
    cause: { nodeId: 'a', sequence: 4, error: { code: 'node_failed', message: 'no luck', details } },
    actions: [
      { action: 'read-events', method: 'GET', path: '/x', text: 'Read the events.' },
      { action: 'rewind', method: 'POST', path: '/v1/rewind', text: 'Try the future.' },
    ],
  };
  const host = await startTestHost(t, { [`GET /v1/host/gantry/runs/${RUN}/explain`]: { status: 200, body } });
  const expected = [
    'failed  run-1',
    'The run failed.',
    '  … a is tried again.',
    '  ✗ node_failed: no luck (at a, event 4)',
    '    at order.mjs:2:22',
    '    at index.mjs:195:22',
    'You can:',
    '  gantry events run-1  Read the events.',
    '  POST /v1/rewind  Try the future.',
    '',
  ].join('\n');
  assert.equal((await cli(host, 'explain', RUN)).stdout, expected);
});

test('doctor: all well is exit 0, a missing host exit 1 with the next step', async (t) => {
  const host = await startTestHost(
    t,
    storage({ backends: [{ capability: 'fs', backend: 'embedded', state: 'up' }] }),
  );
  const well = await cli(host, 'doctor', '--data', tmpdir());
  assert.equal(well.code, 0, well.stdout);
  for (const name of ['node', 'data', 'host', 'ready', 'clock', 'discovery', 'key', 'storage', 'sandbox']) {
    assert.match(well.stdout, new RegExp(`^ok +${name} `, 'm'));
  }
  const ill = await runHere(['doctor', '--url', 'http://127.0.0.1:2']);
  assert.equal(ill.code, 1);
  assert.match(ill.stdout, /^fail +host +.*ECONNREFUSED.*\n +Next: Start it with `gantry start`/m);
});

test('doctor: storage that cannot be used says whether to start a server or to mend what is named', async (t) => {
  const ill = (backend: string, state: 'unreachable' | 'rejected', problem: string) => ({
    capability: 'kvStorage',
    backend,
    state,
    problem,
  });
  const backends = [
    ill('postgres', 'unreachable', 'PostgreSQL cannot be reached.'),
    ill('postgres', 'rejected', 'PostgreSQL is old.'),
    ill('embedded', 'unreachable', 'The thread ended.'),
    {
      capability: 'sql',
      datasource: 'crm',
      backend: 'postgres',
      state: 'up',
      warning: 'Its user is a superuser.',
    },
  ];
  const { code, stdout } = await cli(await startTestHost(t, storage({ backends })), 'doctor');
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^fail +storage +kvStorage \(postgres\): PostgreSQL cannot be reached.*\n +Next: Start the server/m,
  );
  assert.match(stdout, /PostgreSQL is old.*\n +Next: Correct what the line names/);
  assert.match(stdout, /The thread ended.*\n +Next: Check the disk/);
  assert.match(stdout, /^warn +storage +sql "crm" \(postgres\): Its user is a superuser/m);
  assert.doesNotMatch(stdout, /^ok +storage/m);
});

test('doctor: what packs cannot have on this machine comes with what to install', async (t) => {
  const backends = [{ capability: 'fs', backend: 'embedded', state: 'up' }];
  const doctor = async (sandbox: object) =>
    cli(await startTestHost(t, storage({ backends }, 200, sandbox)), 'doctor', '--data', tmpdir());
  const unfiltered = { problem: 'System calls of packs are not filtered.', next: 'Install bubblewrap.' };
  const some = await doctor({ isolation: 'unshare', filtered: false, problems: [unfiltered] });
  assert.equal(some.code, 0, some.stdout);
  assert.match(some.stdout, /^ok +sandbox +unshare$/m);
  assert.match(some.stdout, /^warn +sandbox +System calls .*\n +Next: Install bubblewrap/m);
  const none = await doctor({ isolation: 'none', filtered: false, problems: [unfiltered] });
  assert.equal(none.code, 1);
  assert.match(none.stdout, /^fail +sandbox /m);
});

test('doctor: a look at storage that fails is told', async (t) => {
  const forbidden = storage({ error: 'forbidden', message: 'Not with this key.' }, 403);
  const barred = await cli(await startTestHost(t, forbidden), 'doctor', '--data', tmpdir());
  assert.equal(barred.code, 0, barred.stdout);
  assert.match(
    barred.stdout,
    /^warn +storage +this key may not read the state of storage; use one with audit:read/m,
  );
  const broken = storage({ error: 'internal_error', message: 'It broke.' }, 500);
  const ill = await cli(await startTestHost(t, broken), 'doctor', '--data', tmpdir());
  assert.equal(ill.code, 1);
  assert.match(ill.stdout, /^fail +storage +.*It broke\./m);
});

test('the command passes output and exit codes on', async () => {
  const version = await startCli(['--version']).finished;
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/);
  assert.equal(version.code, 0, version.stderr);
  assert.equal((await startCli(['nonsense']).finished).code, 2);
});

test('start passes flags and exit code through to the host', async () => {
  const done = await startCli(['start', '--no-such-setting', 'x']).finished;
  assert.equal(done.code, 2, done.stderr);
  assert.match(done.stderr, /no-such-setting/);
});
