import { createHost, type Host } from './host.ts';
import { readSettings, SettingsError } from './settings.ts';
import { HOST_VERSION } from './version.ts';

/** Exit codes: 1 the host could not start, 2 a setting is wrong. */
function fail(error: unknown): never {
  const text = isPortTaken(error)
    ? 'the port is in use. Choose another with --port, or 0 for any free one.'
    : error instanceof Error
      ? error.message
      : String(error);
  process.stderr.write(`gantry: ${text}\n`);
  process.exit(error instanceof SettingsError ? 2 : 1);
}

const isPortTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

function greet(host: Host, url: string): void {
  const lines = [`Gantry ${HOST_VERSION} is serving on ${url}`];
  const key = host.newAdminKey;
  if (key) lines.push(`Admin key (shown once, keep it): ${key}`);
  const sample = host.served.includes('hello') ? 'hello' : host.served[0];
  if (sample) {
    lines.push(
      'Run a workflow:',
      `  curl -s ${url}/v1/runs -H 'Authorization: Bearer ${key ?? '<your key>'}' -H 'Content-Type: application/json' -d '{"workflowId":"${sample}"}'`,
    );
  }
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function main(): Promise<void> {
  const host = await createHost({ settings: readSettings(process.argv.slice(2), process.env) });
  const stop = async (): Promise<void> => {
    try {
      await host.stop();
      process.exit(0);
    } catch (error) {
      fail(error);
    }
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  greet(host, await host.start());
}

main().catch(fail);
