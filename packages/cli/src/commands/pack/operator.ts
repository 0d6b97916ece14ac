/** Commands for packs on a host: list, show, grant and review their use. */

import { RUNTIME_REQUIREMENTS, surfaceGrant } from '@gantry/packs';
import type { InstalledPack } from '@gantry/protocol';
import { didYouMean, GRANTABLE_SURFACES, given } from '@gantry/protocol';
import type { Action } from '../../actions.ts';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { print, printJson } from '../../output.ts';
import { printable } from '../../style.ts';
import { installAsking, namedGrants, refuseNeedless } from './approval.ts';
import type { BuiltPack } from './source.ts';

const offersOf = ({ typeIds, chainIds, contentIds = [] }: InstalledPack): string =>
  [...typeIds, ...chainIds, ...contentIds].join(', ') || 'no types';

export function say(call: Call, pack: InstalledPack): void {
  for (const warning of pack.warnings) call.io.stderr.write(`${printable(warning)}\n`);
  if (call.args.flag('json')) printJson(call, pack);
  else sayInstalled(call, pack);
}

export function sayInstalled({ io }: Pick<Call, 'io'>, pack: InstalledPack): void {
  io.stdout.write(`${printable(`${pack.name}@${pack.version} is installed: ${offersOf(pack)}`)}\n`);
}

/** Installs a pack on the host, and asks for the permissions that the host wants to be approved. */
export async function installBuilt(
  call: Call,
  pack: BuiltPack,
  development: boolean,
): Promise<InstalledPack> {
  const { name } = pack.manifest;
  refuseNeedless(pack, namedGrants(call, name).get(name) ?? []);
  const older = call.args.flag('older');
  return installAsking(call, name, (grants) =>
    call.client.packs.install(pack.bytes, {
      grant: grants.get(name) ?? [],
      older,
      ...(development && { development }),
    }),
  );
}

/** How the origin of the pack is verified. */
export function proofOf({ trust, signedBy, covers, development, unknownSigner }: InstalledPack): string {
  const unproved = unknownSigner ? 'signed by an unknown key' : trust;
  const proof = signedBy === undefined ? unproved : `${trust} by ${signedBy} (${covers ?? 'manifest'})`;
  return development ? `${proof}, in development` : proof;
}

/** @example 'net.outbound, store (kvStorage, tableStorage)' */
function mayOf({ granted, surfaces }: InstalledPack): string {
  const through = surfaces?.capabilities.join(', ') ?? '';
  const stored =
    surfaces && through !== '' ? [`${surfaces.access === 'write' ? 'store' : 'read'} (${through})`] : [];
  const others = granted.filter((id) => !id.startsWith('host.'));
  return [...others, ...stored].join(', ') || 'nothing';
}

export const ls: Action = {
  async act(call) {
    const packs = await call.client.packs.list();
    const columns = {
      PACK: 'name',
      VERSION: 'version',
      KIND: 'kind',
      PROOF: proofOf,
      MAY: mayOf,
      OFFERS: offersOf,
    } as const;
    print(
      call,
      { packs },
      {
        items: packs,
        columns,
        none: 'No packs yet. Write one: gantry pack new vendor.acme.greeter',
      },
    );
  },
};

/** An empty list is written `none`, so that a typing error does not revoke everything. */
function readGrants(list: string): string[] {
  if (list === 'none') return [];
  const ids = list.split(',');
  const known: readonly string[] = [...RUNTIME_REQUIREMENTS, ...GRANTABLE_SURFACES.map(surfaceGrant)];
  const wrong = ids.find((id) => !known.includes(id));
  if (wrong === undefined) return ids;
  throw new UsageError(
    `There is no permission "${wrong}".${didYouMean(wrong, known) || ` One of: ${known.join(', ')}, or none.`}`,
  );
}

export const grant: Action = {
  takes: '<name> <permissions>',
  async act(call, name = '', list = '') {
    const requires = readGrants(list);
    const detail = await call.client.packs.grant(name, requires);
    print(call, detail, `${name} is granted now: ${requires.join(', ') || 'nothing'}\n`);
  },
};

export const rm: Action = {
  takes: '<name> [version]',
  async act(call, name = '', version) {
    await call.client.packs.remove(name, version);
    const removed = { name, ...given({ version }), removed: true };
    print(call, removed, `${version === undefined ? name : `${name}@${version}`} removed\n`);
  },
};

const usesOf = (uses: Readonly<Record<string, number>>): string =>
  Object.entries(uses)
    .map(([name, steps]) => `${name} (${steps})`)
    .join(', ') || '-';

export const receipts: Action = {
  takes: '<name>',
  async act(call, name = '') {
    const seen = await call.client.packs.receipts(name);
    print(call, seen, {
      items: seen.receipts,
      columns: {
        VERSION: 'version',
        SINCE: 'since',
        STEPS: 'steps',
        PRIMITIVES: ({ primitives }) => usesOf(primitives),
        SURFACES: ({ surfaces }) => usesOf(surfaces),
      },
      none: `No node of ${name} has run yet.`,
    });
    if (!call.args.flag('json')) offerLess(call, name, seen);
  },
};

/** Before the first step all grants are unused, so there is no suggestion. */
function offerLess(
  { io }: Call,
  name: string,
  { granted, unused, receipts: seen }: Awaited<ReturnType<Call['client']['packs']['receipts']>>,
): void {
  if (unused.length === 0 || seen.length === 0) return;
  const less = granted.filter((id) => !unused.includes(id)).join(',') || 'none';
  io.stdout.write(
    `Granted and never used: ${unused.join(', ')}. To grant less: gantry pack grant ${name} ${less}\n`,
  );
}
