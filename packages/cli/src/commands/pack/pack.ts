import { type Actions, runAction, usageOf, wordsMax } from '../../actions.ts';
import type { Call, Command } from '../../command.ts';
import { EXIT } from '../../io.ts';
import { build, check, create } from './author.ts';
import { dev } from './dev.ts';
import { FaultyPack } from './fault.ts';
import { grant, install, ls, receipts, rm } from './operator.ts';
import { keygen, sign, verify } from './proof.ts';
import { why } from './why.ts';

const ACTIONS: Actions = {
  ls,
  new: create,
  dev,
  check,
  build,
  keygen,
  sign,
  verify,
  install,
  grant,
  receipts,
  why,
  rm,
};

export const pack: Command = {
  name: 'pack',
  summary: 'write, prove, install and look after packs',
  usage: usageOf('pack', ACTIONS),
  details:
    '<pack> is a folder, which is checked and built first, or a .tgz archive. <permissions> is a list with commas,\n' +
    'or `none`. `why` takes a type, a chain or a pack. `check`, `verify` and what builds exit with 1 when the pack\n' +
    'is not right.',
  options: {
    grant: {
      type: 'string',
      multiple: true,
      value: 'A,B',
      text: 'install, dev: what it may do; asked for on a terminal',
    },
    out: { type: 'string', value: 'PATH', text: 'new: the folder; build, sign: the archive' },
    'signing-key': { type: 'string', value: 'FILE', text: 'sign: the private key, as keygen made it' },
    keys: { type: 'string', value: 'PATH', text: 'verify: the public key, or a folder of them' },
    integrity: {
      type: 'string',
      value: 'SRI',
      text: 'verify: what the archive must be, as build printed it',
    },
    json: { type: 'boolean', text: 'print JSON' },
  },
  examples: [
    'gantry pack new vendor.acme.greeter',
    'gantry pack dev greeter',
    'gantry pack install vendor.acme.greeter-0.1.0.tgz --grant net.outbound',
    'gantry pack why vendor.acme.greeter.hello',
  ],
  words: { min: 0, max: wordsMax(ACTIONS) },
  run: runPack,
};

/** A pack that is not right is a finding, like those of doctor: the command itself worked. */
async function runPack(call: Call): Promise<number> {
  try {
    return await runAction('pack', ACTIONS, call);
  } catch (error) {
    if (error instanceof FaultyPack) return EXIT.failed;
    throw error;
  }
}
