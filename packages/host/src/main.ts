import { runServerProcess } from '@gantry/http';
import { createHost, type Host } from './host.ts';
import { readSettings } from './settings.ts';
import { HOST_VERSION } from './version.ts';

function greeting(host: Host, url: string): string[] {
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
  return lines;
}

await runServerProcess(
  'gantry',
  async () => createHost({ settings: readSettings(process.argv.slice(2), process.env) }),
  greeting,
);
