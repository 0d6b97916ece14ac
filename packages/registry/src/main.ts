import { runMirror } from './mirror/main.ts';
import { createRegistryServer, type RegistryServer } from './server.ts';
import { readSettings, SettingsError } from './settings.ts';

/** Exit codes: 1 the registry could not start or not be copied whole, 2 a setting is wrong. */
function fail(error: unknown): never {
  const text = isPortTaken(error)
    ? 'the port is in use. Choose another with --port, or 0 for any free one.'
    : error instanceof Error
      ? error.message
      : String(error);
  process.stderr.write(`gantry registry: ${text}\n`);
  process.exit(error instanceof SettingsError ? 2 : 1);
}

const isPortTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

function greet({ newAdminKey }: RegistryServer, url: string): void {
  const lines = [`The registry is serving on ${url}`];
  if (newAdminKey) lines.push(`Admin key (shown once, keep it): ${newAdminKey}`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function serve(args: readonly string[]): Promise<void> {
  const server = await createRegistryServer({ settings: readSettings(args, process.env) });
  const stop = async (): Promise<void> => {
    try {
      await server.stop();
      process.exit(0);
    } catch (error) {
      fail(error);
    }
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  greet(server, await server.start());
}

/** What was copied stays; the next mirror goes on from there. */
async function mirror(args: readonly string[]): Promise<void> {
  const interrupted = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => interrupted.abort());
  const { signal } = interrupted;
  process.exitCode = await runMirror(args, process.env, { output: process.stdout, signal });
}

const [first, ...rest] = process.argv.slice(2);
(first === 'mirror' ? mirror(rest) : serve(process.argv.slice(2))).catch(fail);
