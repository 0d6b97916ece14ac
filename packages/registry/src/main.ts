import { runServerProcess } from '@gantry/http';
import { createRegistryServer, type RegistryServer } from './server.ts';
import { readSettings } from './settings.ts';

const NAME = 'gantry registry';

function greeting({ newAdminKey }: RegistryServer, url: string): string[] {
  const lines = [`The registry is serving on ${url}`];
  if (newAdminKey) lines.push(`Admin key (shown once, keep it): ${newAdminKey}`);
  else if (process.env.GANTRY_API_KEY) lines.push('Admin key: the one in GANTRY_API_KEY');
  return lines;
}

await runServerProcess(
  NAME,
  async () => createRegistryServer({ settings: readSettings(process.argv.slice(2), process.env) }),
  greeting,
);
