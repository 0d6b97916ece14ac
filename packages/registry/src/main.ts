import { adminKeyLine, adminKeyWarnings, runServerProcess } from '@gantry/http';
import { createRegistryServer, type RegistryServer } from './server.ts';
import { readSettings } from './settings.ts';

const NAME = 'gantry registry';

const greeting = ({ adminKey }: RegistryServer, url: string): string[] => [
  `The registry is serving on ${url}`,
  ...adminKeyLine(adminKey, process.env),
];

for (const warning of adminKeyWarnings(process.env)) process.stderr.write(`${NAME}: ${warning}\n`);
await runServerProcess(
  NAME,
  async () => createRegistryServer({ settings: readSettings(process.argv.slice(2), process.env) }),
  greeting,
);
