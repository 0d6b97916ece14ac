/** Names in the environment that look like settings but are not: usually typing errors. Pure. */
import { didYouMean } from '@gantry/protocol';

/** Settings of the command line, of a separate registry and of tests. They may be in the environment of a host. */
const OF_OTHERS = [
  'GANTRY_URL',
  'GANTRY_API_KEY',
  'GANTRY_REGISTRY_HOST',
  'GANTRY_REGISTRY_PORT',
  'GANTRY_REGISTRY_DATA_DIR',
  'GANTRY_REGISTRY_STORAGE',
  'GANTRY_REGISTRY_PUBLIC_URL',
  'GANTRY_REGISTRY_NAME',
  'GANTRY_REGISTRY_TRUST',
  'GANTRY_REGISTRY_UNSIGNED',
  'GANTRY_REGISTRY_PRIVATE',
  'GANTRY_S3_ENDPOINT',
  'GANTRY_SOAK_ROUNDS',
  'GANTRY_CRASH_SEED',
  'GANTRY_UPDATE_GOLDEN',
];
const PREFIX = 'GANTRY_';
const OF_TESTS = 'GANTRY_TEST_';

/** One sentence for each; values are never shown. */
export function unknownNames(
  env: Readonly<Record<string, string | undefined>>,
  settings: readonly string[],
): string[] {
  const known = [...settings, ...OF_OTHERS];
  const unknown = Object.keys(env).filter(
    (name) => env[name] && name.startsWith(PREFIX) && !name.startsWith(OF_TESTS) && !known.includes(name),
  );
  // The common prefix is not compared
  const words = known.map((name) => name.slice(PREFIX.length));
  return unknown.map(
    (name) => `Unknown setting ${name} (ignored).${didYouMean(name.slice(PREFIX.length), words, PREFIX)}`,
  );
}
