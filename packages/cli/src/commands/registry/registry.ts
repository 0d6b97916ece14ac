import { fileURLToPath } from 'node:url';
import { type Action, type Actions, runAction, wordsMax } from '../../actions.ts';
import { readArgs, splitCommand } from '../../args.ts';
import { type Call, type Command, flag, option } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { runServer } from '../start.ts';
import { advisories } from './advisories.ts';
import { claim, claims, keys } from './keychain.ts';
import { deprecate, undeprecate, unpublish, unyank, yank } from './lifecycle.ts';
import { mirror } from './mirror.ts';

const start: Action = {
  takes: '[flags]',
  act: ({ args }) => runServer(registryMain(), splitCommand(args.words).rest),
};

const ACTIONS: Actions = {
  start,
  mirror: { takes: '<registry> <folder> [--only NAMES]', act: mirror },
  claim,
  claims,
  keys,
  yank,
  unyank,
  deprecate,
  undeprecate,
  unpublish,
  advisories,
};

const USAGE = Object.entries(ACTIONS)
  .map(([name, { takes = '' }]) => `${name} ${takes}`)
  .join(' | ');

export const registry: Command = {
  name: 'registry',
  summary: 'run, copy and manage a registry of packs',
  usage: `registry ${USAGE}`,
  details:
    'start serves a registry here; --port, --data, --database, --storage and --public-url go to it. mirror copies a\n' +
    'registry, an address or a folder, into a folder that --registry reads; run it again to update or continue. It\n' +
    'exits with 1 when something was refused. The rest speaks to the registry at --registry, with the key in\n' +
    'GANTRY_REGISTRY_KEY. <pack> is name@version. claims can ls and drop; keys can ls, add and rotate; advisories can\n' +
    'ls and add. An operator gives a namespace to another tenant with claim --owner.',
  options: {
    registry: option('URL', 'the registry (GANTRY_REGISTRY_URL)'),
    key: option('KEY', 'API key (GANTRY_REGISTRY_KEY; better there)'),
    only: option('NAMES', 'names or namespaces, separated by commas', { of: ['mirror'] }),
    reason: option('TEXT', 'the reason, shown to users of the version', { of: ['yank', 'deprecate'] }),
    advisory: option('URL', 'address of the advisory', { of: ['yank'] }),
    'superseded-by': option('PACK', 'what to use instead', { of: ['deprecate'] }),
    'public-key': option('FILE', 'the .pub file, named after the key', { of: ['claim', 'keys'] }),
    'signing-key': option('FILE', 'the .pem file of the current key, with rotate', { of: ['keys'] }),
    owner: option('TENANT', 'another tenant, as an operator', { of: ['claim'] }),
    contact: option('TEXT', 'how to reach the owner', { of: ['claim'] }),
    json: flag('print JSON'),
  },
  examples: [
    'gantry registry start --data /var/lib/gantry-registry',
    "gantry registry mirror https://packs.example.org ./mirror --only 'vendor.acme.*'",
    "gantry registry claim 'vendor.acme.*' --public-key acme-2026.pub",
    'gantry registry yank vendor.acme.greeter@1.0.0 --reason "loses data"',
  ],
  words: 'passthrough',
  run: runRegistry,
};

/** The CLI starts the registry and never imports it. */
function registryMain(): string {
  try {
    return fileURLToPath(new URL('../bin/registry.mjs', import.meta.resolve('@gantry/registry')));
  } catch {
    throw new UsageError('The registry is not installed. Install the complete Gantry package.');
  }
}

async function runRegistry(call: Call): Promise<number> {
  const { name } = splitCommand(call.args.words);
  if (name === undefined) throw new UsageError(`Usage: gantry ${registry.usage}`);
  if (name === 'start') await start.act(call); // has its own flags
  const args = readArgs({ ...registry, words: { min: 1, max: wordsMax(ACTIONS) } }, call.args.words);
  return runAction(registry, ACTIONS, { ...call, args });
}
