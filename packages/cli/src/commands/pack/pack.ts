import { actionCommand } from '../../actions.ts';
import { type Command, flag, option } from '../../command.ts';
import { EXIT } from '../../io.ts';
import { build, check, create } from './author.ts';
import { dev } from './dev.ts';
import { FaultyPack } from './fault.ts';
import { install } from './install.ts';
import { lock } from './lock.ts';
import { grant, ls, receipts, rm } from './operator.ts';
import { outdated } from './outdated.ts';
import { keygen, sign, verify } from './proof.ts';
import { publish } from './publish.ts';
import { update } from './update.ts';
import { why } from './why.ts';

const command = actionCommand({
  name: 'pack',
  actions: {
    ls,
    new: create,
    dev,
    check,
    build,
    keygen,
    sign,
    verify,
    publish,
    install,
    lock,
    outdated,
    update,
    grant,
    receipts,
    why,
    rm,
  },
  summary: 'create, verify, install and manage packs',
  details:
    '<pack> is a folder, which is checked and built first, or a .tgz archive; `install` also takes a published pack,\n' +
    'such as vendor.acme.greeter@^1.2, and without any it installs what the lockfile lists. <permissions> and [names]\n' +
    'are lists with commas, <permissions> may be `none`. `why` takes a type, a chain or a pack. `check`, `verify`,\n' +
    '`lock --check` and what builds exit with 1 when they find a problem.',
  options: {
    registry: option(
      'URL',
      'an address or a folder; more, with commas, are fallbacks (GANTRY_REGISTRY_URL); install: of those of the host',
    ),
    grant: option('A,B', 'what it may do; NAME=A,B for another pack than the named one', {
      of: ['install', 'update', 'dev'],
      multiple: true,
    }),
    lock: option('FILE', 'the lockfile (GANTRY_PACK_LOCK; ./pack-lock.json)', {
      of: ['lock', 'install', 'outdated', 'update'],
    }),
    workflows: option('DIR', 'whose packs are asked for (GANTRY_WORKFLOWS_DIR; ./workflows)', {
      of: ['lock', 'install', 'outdated', 'update'],
    }),
    override: option('NAME=VERSION', 'this version, whatever the ranges say; NAME= takes it back', {
      of: ['lock'],
      multiple: true,
    }),
    check: flag('write nothing; exit with 1 when the file would change', { of: ['lock'] }),
    unverified: flag('also what no key of the registry signed, as far as the host takes uploads', {
      of: ['install', 'update'],
    }),
    older: flag('also in place of a newer version', { of: ['install'] }),
    yes: flag('do not ask', { of: ['update'] }),
    language: option('L', 'javascript (default) or python', { of: ['new'] }),
    storage: flag('a node that stores through the host, not one that only computes', { of: ['new'] }),
    out: option('PATH', 'the folder that is made, or the archive', { of: ['new', 'build', 'sign'] }),
    'signing-key': option('FILE', 'the private key, as keygen made it', { of: ['sign', 'publish'] }),
    keys: option('PATH', 'the public key, or a folder of them', { of: ['verify'] }),
    trust: option('FILE', 'a trust file, with keys and Sigstore signers', { of: ['verify'] }),
    integrity: option('SRI', 'what the archive must be, as build printed it', { of: ['verify'] }),
    json: flag('print JSON'),
  },
  examples: [
    'gantry pack new vendor.acme.greeter',
    'gantry pack new vendor.acme.visits --storage',
    'gantry pack new vendor.acme.greeter --language python',
    'gantry pack dev greeter',
    'gantry pack publish greeter --signing-key acme-2026.pem --registry https://packs.acme.example',
    'gantry pack install vendor.acme.greeter@^0.1 --grant net.outbound',
    'gantry pack lock && gantry pack install',
    'gantry pack why vendor.acme.greeter.hello',
  ],
});

/** A faulty pack is a finding, like those of doctor: the command itself succeeded. */
export const pack: Command = {
  ...command,
  async run(call) {
    try {
      return (await command.run(call)) ?? EXIT.ok;
    } catch (error) {
      if (error instanceof FaultyPack) return EXIT.failed;
      throw error;
    }
  },
};
