/**
 * What users and their scripts rely on: help, output and requests of commands of resources, as recorded in
 * `testing/golden/`. They are the same whether a part is written or follows from the wire.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { runCli } from './cli.ts';
import { COMMANDS } from './commands/index.ts';
import { RECORDED } from './testing/recorded-host.ts';
import { KEY, memoryIo, startTestHost, type TestHost } from './testing/test-host.ts';

/** A word with spaces is quoted. */
const LINES = `
schedules
schedules ls --limit 2 --before sch_9
schedules add report "0 9 * * 1-5" --timezone Europe/Berlin --until 2030-01-01T00:00:00Z --missed skip -i n=3 --input name=Ada --tag a --tag b
schedules add report --in 15m
schedules add report
schedules add report --at x --in 1h
schedules add report "* * * * *" --missed never
schedules show sch_1
schedules pause sch_1
schedules resume sch_1
schedules next sch_1 --count 2
schedules next sch_1 --timezone Europe/Berlin
schedules next "*/10 * * * *" --timezone Europe/Berlin
schedules rm sch_1
schedules ls --count 3
schedules stop sch_1
schedules show
schedules show sch_1 sch_2
schedules ls --limit 0
heartbeats
heartbeats show hbt_1
heartbeats rm hbt_1
webhooks
webhooks add https://example.com/hook
webhooks add https://example.com/hook --event run.failed --event node.* --tag a --durable
webhooks show whk_1
webhooks resume whk_1
webhooks deliveries whk_1
webhooks deliveries whk_1 --state dead --limit 5 --before c0
webhooks deliveries whk_1 --state lost
webhooks rotate-secret whk_1 --overlap 60
webhooks resend whk_1 dlv_1
webhooks rm whk_1
triggers
triggers add ship --map order=webhook.body.id --verify required --scheme openwop
triggers add ship --source queue
triggers add ship --group g
triggers add ship --topic orders --verify required
triggers show trg_1
triggers pause trg_1
triggers resume trg_1
triggers deliveries trg_1 --limit 1
triggers rm trg_1
connections
connections show con_1
connections rm con_1
connections connect acme --write --scope user
connections configure acme --client-id id-1 --auth-method post --issuer https://acme --public
connections configure acme
connections clients
connections unconfigure acme
dead-letters
dead-letters show dl_1
dead-letters retry dl_1
dead-letters retry dl_2
dead-letters retry dl_3
dead-letters rm dl_1
credentials
credentials add stripe --audience api.stripe.com --kind bearer --expires 2030-01-31T00:00:00Z --source env:KEY
credentials add stripe --source vault:KEY
credentials show stripe
credentials rotate stripe --overlap 60 --source files:key
credentials share stripe --workspace finance
credentials share stripe
credentials unshare stripe --principal ada
credentials revoke stripe
credentials rekey
credentials rm stripe
connectors
connectors add ops --type slack --credential hook --rate 1/2 --channel slack
connectors add mail --type smtp --to smtp://relay --from ops@example.com --subject hi --tls none
connectors add mail
connectors add mail --type fax
connectors add mail --type smtp --rate often
connectors show ops
connectors reconnect ops
connectors check ops
connectors resend ops dlv_1
connectors deliveries ops --state dead
connectors rm ops
`;

/** `GANTRY_UPDATE_GOLDEN=1` writes it. */
function matchesGolden(name: string, text: string): void {
  const file = path.join(import.meta.dirname, 'testing/golden', name);
  if (process.env.GANTRY_UPDATE_GOLDEN) writeFileSync(file, text);
  assert.equal(text, readFileSync(file, 'utf8'), `${name} has changed; GANTRY_UPDATE_GOLDEN=1 writes it`);
}

async function said(argv: readonly string[], host?: TestHost): Promise<string> {
  const { io, out, err } = memoryIo();
  const env = host ? { GANTRY_URL: host.url, GANTRY_API_KEY: KEY } : {};
  const code = await runCli(argv, { ...io, env, now: () => Date.parse('2026-01-01T01:00:00Z') });
  return `${out.text}${err.text === '' ? '' : `stderr: ${err.text}`}${code === 0 ? '' : `exit code ${code}\n`}`;
}

const words = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|\S+/g)].map(([all, quoted]) => quoted ?? all);

/** The requests of a line, then what it prints. */
async function shown(host: TestHost, line: string): Promise<string> {
  host.seen.length = 0;
  const text = await said(words(line), host);
  const requests = host.seen.map(({ method, path, query, body }) => {
    const asked = query.size > 0 ? `?${query}` : '';
    return `> ${method} ${path}${asked}${body === undefined ? '' : ` ${JSON.stringify(body)}`}\n`;
  });
  // Some are sent together
  return `$ gantry ${line}\n${requests.sort().join('')}${text}\n`;
}

async function each(t: TestContext, lines: readonly string[]): Promise<string> {
  const host = await startTestHost(t, RECORDED);
  let text = '';
  for (const line of lines) text += await shown(host, line);
  return text;
}

const lines = LINES.trim().split('\n');

test('help, usage and options of commands of resources are as recorded', async () => {
  const names = COMMANDS.map(({ name }) => name).filter((name) => lines.includes(name));
  let text = '';
  for (const name of names) text += `$ gantry help ${name}\n${await said(['help', name])}\n`;
  matchesGolden('help.txt', text);
});

test('commands of resources send and print what is recorded', async (t) => {
  matchesGolden('resources.txt', await each(t, lines));
});

test('with --json they print what is recorded', async (t) => {
  matchesGolden(
    'resources-json.txt',
    await each(
      t,
      lines.map((line) => `${line} --json`),
    ),
  );
});
