import { adminKeyLine, adminKeyWarnings, openWarnings, runServerProcess } from '@gantry/http';
import { createRegistryServer, type RegistryServer } from './server.ts';
import { readSettings, usage } from './settings.ts';

const NAME = 'gantry registry';

const greeting = ({ adminKey }: RegistryServer, url: string): string[] => [
  `The registry is serving on ${url}`,
  ...adminKeyLine(adminKey, process.env),
];

await runServerProcess({
  name: NAME,
  usage,
  create: async () => {
    const settings = readSettings(process.argv.slice(2), process.env);
    const { host, publicUrl } = settings;
    for (const warning of [
      ...adminKeyWarnings(process.env),
      ...openWarnings(host, publicUrl, 'GANTRY_REGISTRY_PUBLIC_URL'),
    ])
      process.stderr.write(`${NAME}: ${warning}\n`);
    return createRegistryServer({ settings });
  },
  greet: greeting,
});
