import { runServerProcess } from '@gantry/http';
import { runMirror } from './mirror/main.ts';
import { createRegistryServer, type RegistryServer } from './server.ts';
import { readSettings, SettingsError } from './settings.ts';

const NAME = 'gantry registry';

function greeting({ newAdminKey }: RegistryServer, url: string): string[] {
  const lines = [`The registry is serving on ${url}`];
  if (newAdminKey) lines.push(`Admin key (shown once, keep it): ${newAdminKey}`);
  else if (process.env.GANTRY_API_KEY) lines.push('Admin key: the one in GANTRY_API_KEY');
  return lines;
}

/** What was copied stays; the next mirror goes on from there. Exit code 1 when it could not be copied whole. */
async function mirror(args: readonly string[]): Promise<void> {
  const interrupted = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => interrupted.abort());
  const { signal } = interrupted;
  try {
    process.exitCode = await runMirror(args, process.env, { output: process.stdout, signal });
  } catch (error) {
    process.stderr.write(`${NAME}: ${error instanceof Error ? error.message : error}\n`);
    process.exit(error instanceof SettingsError ? 2 : 1);
  }
}

const args = process.argv.slice(2);
if (args[0] === 'mirror') await mirror(args.slice(1));
else
  await runServerProcess(
    NAME,
    async () => createRegistryServer({ settings: readSettings(args, process.env) }),
    greeting,
  );
