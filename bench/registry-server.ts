/**
 * The registry with room for archives of 64 MiB; everything else is as it is.
 *
 * node bench/registry-server.ts --data <folder> --port 0
 */
import { ARCHIVE_LIMITS } from '@gantry/packs';
import { createRegistryServer } from '../packages/registry/src/server.ts';
import { readSettings } from '../packages/registry/src/settings.ts';

const MIB = 1024 * 1024;
const limits = { ...ARCHIVE_LIMITS, archiveBytesMax: 64 * MIB, totalBytesMax: 64 * MIB };
const server = await createRegistryServer({
  limits,
  settings: readSettings(process.argv.slice(2), process.env),
});
console.log(`registry on ${await server.start()}`);
process.once('SIGTERM', () => server.stop().then(() => process.exit(0)));
