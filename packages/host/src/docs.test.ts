/** The pages on the HTTP API, the client, supervisors and deployment: what they show is run, or held against the host. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createClient } from '@gantry/client';
import { ARCHIVE_LIMITS, readSource } from '@gantry/packs';
import { freshDatabase } from '../../store/src/testing/postgres-server.ts';
import { readSettings } from './settings.ts';
import { node, workflow } from './testing/definitions.ts';
import { type HostProcess, startHostProcess, TEST_KEY, temporaryFolder } from './testing/host-process.ts';
import { type TestHost, testHost } from './testing/test-host.ts';

const ROOT = new URL('../../../', import.meta.url);
const read = (file: string): Promise<string> => readFile(new URL(file, ROOT), 'utf8');
const blocks = (page: string, language: string): string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text = '']) => text);

/** Runs a program to its end, with this text as its input. */
function run(command: string, args: string[], input: string, env: NodeJS.ProcessEnv, cwd: string) {
  return new Promise<{ code: number | null; out: string; err: string }>((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env } });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => (out += chunk));
    child.stderr.on('data', (chunk) => (err += chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
    child.stdin.end(input);
  });
}

async function listening(t: TestContext): Promise<TestHost & { url: string }> {
  const host = await testHost(t);
  return { ...host, url: await host.host.app.listen({ host: '127.0.0.1', port: 0 }) };
}

async function register({ request }: TestHost, file: string): Promise<void> {
  const source = await readSource(file, await read(file));
  assert.ok(source.kind === 'json', file);
  const payload = JSON.stringify(source.value);
  const headers = { 'content-type': 'application/json' };
  const answer = await request({ method: 'POST', url: '/v1/host/gantry/workflows', payload, headers });
  assert.deepEqual([answer.statusCode, answer.json().warnings], [201, []], answer.body);
}

test('docs/client.md: the program runs, and has 40 lines', async (t) => {
  const { url } = await listening(t);
  const [program = ''] = blocks(await read('docs/client.md'), 'ts');
  const lines = program.split('\n').filter((line) => line.trim() !== '');
  assert.ok(lines.length <= 40, `${lines.length} lines`);
  const env = { GANTRY_URL: url, GANTRY_API_KEY: TEST_KEY, NODE_NO_WARNINGS: '1' };
  const args = ['--input-type=module-typescript', '-'];
  const { code, out, err } = await run(process.execPath, args, program, env, fileURLToPath(ROOT));
  assert.equal(code, 0, err);
  assert.match(out, /^run\.started/);
  assert.match(out, /\ncompleted \{ by: '\w+' \}\n404 not_found There is no such workflow/);
});

test('docs/http-api.md: the commands work, the error is one, and the scopes are those of the host', async (t) => {
  const host = await listening(t);
  const folder = await temporaryFolder();
  t.after(folder.remove);
  await register(host, 'workflows/hello.json');
  const page = await read('docs/http-api.md');
  const commands = blocks(page, 'sh')
    .join('\n')
    .replace('http://127.0.0.1:7070', host.url)
    .replace('gk_...', TEST_KEY);
  const script = `set -e -o pipefail; shopt -s expand_aliases; curl() { command curl --fail-with-body -w '\\n' "$@"; }\n${commands}`;
  const { code, out, err } = await run('bash', ['-'], script, {}, folder.path);
  assert.equal(code, 0, `${out}\n${err}`);
  const [, ordered, repeated] = [...out.matchAll(/"runId":"(\w+)","status"/g)].map(([, runId]) => runId);
  assert.ok(ordered !== undefined && ordered === repeated, out);
  assert.match(out, /event: run\.completed/);
  const { paths } = JSON.parse(await readFile(`${folder.path}/openapi.json`, 'utf8'));
  const used = [...JSON.stringify(paths).matchAll(/"bearer":\["([^\]]*)"\]/g)].flatMap(([, list = '']) =>
    list.split('","'),
  );
  const rows = page.split('## Keys and scopes')[1]?.split('\n## ')[0] ?? '';
  const told = [...rows.matchAll(/^\| (`.*?) \|/gm)].flatMap(
    ([, cell = '']) => cell.match(/[\w:]+(?=`)/g) ?? [],
  );
  assert.deepEqual(told.sort(), [...new Set(used)].sort());

  const needy = workflow('needy', [node('a', 'core.noop')], {
    variables: [{ name: 'amount', type: 'number', required: true }],
  });
  await host.request({ method: 'POST', url: '/v1/host/gantry/workflows', payload: needy });
  const refused = await host.request({ method: 'POST', url: '/v1/runs', payload: { workflowId: 'needy' } });
  assert.deepEqual(refused.json(), JSON.parse(blocks(page, 'json')[0] ?? ''));
});

test('docs/supervisors.md: the example runs, and its decisions are decisions', async (t) => {
  const host = await testHost(t);
  const page = await read('docs/supervisors.md');
  assert.deepEqual(blocks(page, 'yaml'), [await read('examples/quotes/quotes.yaml')]);
  const files = page.match(/examples\/quotes\/[\w-]+\.yaml/g) ?? [];
  for (const file of new Set(files)) await register(host, file);
  const started = await host.request({ method: 'POST', url: '/v1/runs', payload: { workflowId: 'quotes' } });
  const { runId } = started.json();
  for (let isTerminal = false; !isTerminal; )
    ({ isTerminal } = (await host.request({ url: `/v1/runs/${runId}/events/poll?timeout=30` })).json());
  const ended = (await host.request({ url: `/v1/runs/${runId}` })).json();
  assert.deepEqual(
    [ended.status, ended.variables.price, ended.outputs.reason],
    ['completed', 100, 'goal-reached'],
    JSON.stringify(ended),
  );
  const decisions = blocks(page, 'json').map((text) => JSON.parse(text));
  assert.deepEqual(
    decisions.map(({ kind }) => kind),
    ['next-worker', 'ask-user', 'terminate'],
  );
  for (const decision of decisions) {
    const inputs = { decision: { type: 'static', value: decision } } as const;
    const lead = workflow('lead', [node('lead', 'core.orchestrator.supervisor', {}, { inputs })]);
    const answer = await host.request({
      method: 'POST',
      url: '/v1/host/gantry/workflows:check',
      payload: lead,
    });
    assert.deepEqual(answer.json(), { valid: true, issues: [] });
    for (const name of Object.keys(decision)) assert.ok(page.includes(`\`${name}\``), name);
  }
});

test('docs/deploy.md: two hosts share a database as shown', async (t) => {
  const database = await freshDatabase();
  if ('skip' in database) {
    t.skip(database.skip);
    return;
  }
  const folder = await temporaryFolder();
  const hosts: HostProcess[] = [];
  t.after(async () => {
    await Promise.all(hosts.map((host) => host.kill()));
    await database.drop();
    await folder.remove();
  });
  const section = (await read('docs/deploy.md')).split('## Two hosts on PostgreSQL')[1] ?? '';
  const [commands = ''] = blocks(section, 'sh');
  const names = [...commands.matchAll(/^export (\w+)=/gm)].map(([, name]) => name);
  assert.deepEqual(names, ['GANTRY_DATABASE_URL', 'GANTRY_MASTER_KEY']);
  const env = { GANTRY_DATABASE_URL: database.url, GANTRY_MASTER_KEY: 'a'.repeat(64) };
  const starts = [...commands.matchAll(/^npm start -- --data (\S+) --port (\d+)/gm)];
  for (const [, dataDir = ''] of starts)
    hosts.push(
      await startHostProcess({
        dataDir: path.join(folder.path, dataDir),
        workflowsDir: fileURLToPath(new URL('workflows', ROOT)),
        env,
      }),
    );
  const [first, second] = hosts.map(({ url }) => createClient({ baseUrl: url, apiKey: TEST_KEY }));
  const { runId } = await first!.runs.create({ workflowId: 'hello' });
  assert.equal((await second!.runs.wait(runId)).status, 'completed');
});

test('docs/deploy.md: the proxy passes on what the host takes', async () => {
  const config = await read('deploy/nginx.conf');
  assert.deepEqual(blocks(await read('docs/deploy.md'), 'nginx'), [config]);
  const of = (name: string): string =>
    new RegExp(`^ *${name} (.+?);`, 'm').exec(config)?.[1] ?? assert.fail(`no ${name}`);
  assert.equal(of('proxy_buffering'), 'off');
  assert.equal(of('client_max_body_size'), `${ARCHIVE_LIMITS.archiveBytesMax / 1024 / 1024}m`);
  assert.ok(Number.parseInt(of('proxy_read_timeout'), 10) > 60, 'longer than a long poll');
  assert.match(of('server'), new RegExp(`:${readSettings([], {}).port}$`));
  assert.equal(config.split('{').length, config.split('}').length);
});
