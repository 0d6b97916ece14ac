/**
 * A run whose credentialed call is echoed, which then waits for a person. Another process of the same database continues
 * it from the record of the call, without opening the credential.
 */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { formsOf } from '@gantry/protocol/redaction';
import { openPostgres } from '@gantry/store';
import { everyRow, freshDatabase } from '../../../../store/src/testing/postgres-server.ts';
import { type PackTest, packTest } from '../../packs/testing/pack-test.ts';
import type { Settings } from '../../settings.ts';
import { node, workflow } from '../../testing/definitions.ts';
import { temporaryFolder } from '../../testing/host-process.ts';

const TYPE = 'vendor.acme.echoed';
const MASTER_KEY = 'one-key-for-every-process-of-this-database';

export interface Echo {
  /** By their refs. */
  readonly values: Readonly<Record<string, string>>;
  readonly audience: string;
  /** Code that sets `told` to what the server answered. */
  readonly call: string;
  readonly config?: JsonObject;
  readonly settings?: Partial<Settings>;
}

interface Opened {
  readonly api: PackTest;
  close(): Promise<void>;
}

async function opened(settings: Partial<Settings>): Promise<Opened> {
  const closes: (() => unknown)[] = [];
  const lifetime = { after: (close: () => unknown) => void closes.push(close) };
  const api = await packTest(lifetime, { settings: { masterKey: MASTER_KEY, ...settings } });
  const close = async (): Promise<void> => {
    for (const each of closes.splice(0).toReversed()) await each();
  };
  return { api, close };
}

/** Makes the call, and answers the run that waits. */
async function waiting({ api }: Opened, { values, audience, call, config = {} }: Echo): Promise<string> {
  for (const [ref, value] of Object.entries(values)) {
    const credential = { ref, value, kind: 'bearer', audiences: [audience] };
    const made = await api.post('/v1/host/gantry/credentials', credential);
    assert.equal(made.statusCode, 201, made.body);
  }
  const body = `
    let told;
    ${call}
    await ctx.suspend({ kind: 'approval', prompt: 'Go on?' });
    const kept = await ctx.storage.kv.put({ key: 'k', value: told }).then(() => 'kept', ({ code }) => code);
    return { told, kept };`;
  await api.install({ nodes: { [TYPE]: { role: 'side-effect', body } } });
  await api.registered(workflow('echoed', [node('a', TYPE, config)]));
  const runId = await api.start('echoed');
  await api.asks(runId);
  return runId;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** No form of a value is in the run, nor in what `stored` answers by name. */
async function assertRedacted(
  { api }: Opened,
  runId: string,
  { values }: Echo,
  stored: () => Promise<Readonly<Record<string, string>>>,
): Promise<void> {
  const answered = await api.post(`/v1/runs/${runId}/interrupts/a`, { resumeValue: { action: 'accept' } });
  assert.equal(answered.statusCode, 200, answered.body);
  const run = await api.ended(runId);
  const { told, kept } = run.outputs as { told: unknown; kept: string };
  const forms = new RegExp(Object.values(values).flatMap(formsOf).map(escaped).join('|'));
  const texts: Record<string, string> = { ...(await stored()) };
  for (const url of ['', '/events/poll?timeout=1', '/debug-bundle', '/explain'])
    texts[url] = (await api.get(`/v1/runs/${runId}${url}`)).body;
  for (const [where, text] of Object.entries(texts)) assert.equal(forms.exec(text)?.[0], undefined, where);
  for (const ref of Object.keys(values)) assert.match(JSON.stringify(told), new RegExp(`REDACTED:${ref}\\]`));
  assert.equal(kept, 'secret_in_arguments');
}

export async function afterRestart(t: TestContext, echo: Echo): Promise<void> {
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const settings = { ...echo.settings, dataDir: folder.path };
  const first = await opened(settings);
  const runId = await waiting(first, echo).finally(first.close);
  const second = await opened(settings);
  await assertRedacted(second, runId, echo, () => filesIn(folder.path)).finally(second.close);
}

/** The second process has loaded what was given in the tenant just before. */
export async function inSecondProcess(t: TestContext, echo: Echo): Promise<void> {
  const database = await freshDatabase();
  if ('skip' in database) return t.skip(database.skip);
  const settings = { ...echo.settings, databaseUrl: database.url };
  const first = await opened(settings);
  const second = await opened(settings);
  t.after(async () => {
    await first.close();
    await second.close();
    await database.drop();
  });
  const runId = await waiting(first, echo);
  await second.api.registered(workflow('other', [node('a', 'core.noop')]));
  await second.api.ended(await second.api.start('other'));
  await assertRedacted(second, runId, echo, () => everyRow(database.url));
}

/** Runs of two processes that get the same value at the same time: each record is written, with its mark. */
export async function manyAtOnce(t: TestContext, echo: Echo, count: number): Promise<void> {
  const database = await freshDatabase();
  if ('skip' in database) return t.skip(database.skip);
  const settings = { ...echo.settings, databaseUrl: database.url };
  const hosts = [await opened(settings), await opened(settings)] as const;
  t.after(async () => {
    for (const { close } of hosts) await close();
    await database.drop();
  });
  await waiting(hosts[0], echo);
  const apis = Array.from({ length: count }, (_, index) => hosts[index % 2]!.api);
  const runIds = await Promise.all(apis.map((api) => api.start('echoed')));
  await Promise.all(apis.map((api, index) => api.asks(runIds[index]!)));
  const store = await openPostgres({ url: database.url });
  const marked = await store.entries.list('given-run', 'default', { limit: 200 }).finally(store.close);
  assert.equal(marked.length, Object.keys(echo.values).length * (count + 1));
}

async function filesIn(folder: string): Promise<Record<string, string>> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const read = files
    .filter((file) => file.isFile())
    .map(async ({ parentPath, name }) => [name, await readFile(path.join(parentPath, name), 'latin1')]);
  return Object.fromEntries(await Promise.all(read));
}
