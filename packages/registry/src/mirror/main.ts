/** `gantry registry mirror`: opens the registry's own data, copies, and ends. */
import { mkdir } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { openPostgres, openSqlite } from '@gantry/store';
import { pino } from 'pino';
import { createRegistry } from '../registry.ts';
import { readSettings, type Settings, SettingsError } from '../settings.ts';
import { openStorage } from '../storage/open-storage.ts';
import type { MirrorSummary } from './mirror.ts';
import { openSource } from './open-source.ts';
import { isWhole, progressOn, type ReportOutput, summaryText } from './report.ts';

const USAGE = `Usage: gantry registry mirror <url|folder> [--only A,B] [--as URL] [--data DIR] [--storage PLACE] [--database URL]
  --only    names or namespaces, such as core.openwop.*,vendor.acme.tools
  --as      what the other registry is called, if it was copied from another address before
The others are those of gantry registry start.`;

/** Settings of the registry that a mirror needs too. */
const SHARED = ['data', 'storage', 'database', 'log'] as const;
const PATTERN = /^[a-z][a-zA-Z0-9_-]*(\.[a-zA-Z0-9_-]+)*(\.\*)?$/;

interface Wanted {
  readonly named: string;
  readonly only: readonly string[] | undefined;
  readonly as: string | undefined;
  readonly settings: Settings;
}

function readWanted(args: readonly string[], env: NodeJS.ProcessEnv): Wanted {
  const options = Object.fromEntries(
    [...SHARED, 'only', 'as'].map((name) => [name, { type: 'string' as const }]),
  );
  const { values, positionals } = parsed(args, options);
  const [named, ...more] = positionals;
  if (named === undefined || more.length > 0) throw new SettingsError(USAGE);
  const shared = SHARED.flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [`--${name}`, value];
  });
  const as = values.as?.replace(/\/+$/, '');
  if (as !== undefined && !/^(https?|file):\/\//.test(as))
    throw new SettingsError('--as must be an address such as https://packs.example.org.');
  return { named, as, only: patternsOf(values.only), settings: readSettings(shared, env) };
}

function parsed(args: readonly string[], options: Record<string, { type: 'string' }>) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
  } catch (error) {
    throw new SettingsError(`${error instanceof Error ? error.message : error}\n${USAGE}`);
  }
}

function patternsOf(list: string | undefined): string[] | undefined {
  const patterns = list?.split(',');
  const wrong = patterns?.find((pattern) => !PATTERN.test(pattern));
  if (wrong !== undefined)
    throw new SettingsError(`--only: "${wrong}" is neither a name nor a namespace such as vendor.acme.*`);
  return patterns;
}

/** Answers the exit code: 0 everything is here, 1 something is not, 130 it was interrupted. */
export async function runMirror(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { output, signal }: { readonly output: ReportOutput; readonly signal: AbortSignal },
): Promise<number> {
  const wanted = readWanted(args, env);
  const source = await openSource(wanted.named, signal);
  const name = wanted.as ?? source.url;
  output.write(`Copying ${name} to ${wanted.settings.dataDir}\n`);
  const summary = await withRegistry(wanted.settings, (registry) =>
    registry.mirror({
      registry: source,
      source: name,
      signal,
      progress: progressOn(output),
      ...(wanted.only !== undefined && { only: wanted.only }),
    }),
  );
  output.write(summaryText(summary, output.isTTY === true));
  if (signal.aborted) return 130;
  return isWhole(summary) ? 0 : 1;
}

/** The registry without its server: no port, and no admin key that nobody would see. */
async function withRegistry(
  { dataDir, databaseUrl, storage, acceptsUnsigned, acceptsPrivate, name, logLevel }: Settings,
  use: (registry: ReturnType<typeof createRegistry>) => Promise<MirrorSummary>,
): Promise<MirrorSummary> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const store =
    databaseUrl === undefined ? await openSqlite({ dataDir }) : await openPostgres({ url: databaseUrl });
  const registry = createRegistry({
    store,
    storage: openStorage(storage, { dataDir, now: Date.now }),
    now: Date.now,
    log: pino({ level: logLevel, base: null }),
    policy: { name, acceptsUnsigned, acceptsPrivate, publicUrl: () => '', testNamespace: false },
  });
  try {
    await registry.start();
    return await use(registry);
  } finally {
    await registry.stop();
    await store.close();
  }
}
