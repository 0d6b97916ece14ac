/** The pack of a node type, the workflows that use it, and its permissions. */

import type { Client } from '@gantry/client';
import type { InstalledPack, PackSurfaces } from '@gantry/protocol';
import { didYouMean } from '@gantry/protocol';
import type { Action } from '../../actions.ts';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { printJson } from '../../output.ts';
import { printable } from '../../style.ts';
import { printPermissions, printUndetermined } from './approval.ts';
import { proofOf } from './operator.ts';

interface Use {
  readonly workflowId: string;
  readonly nodes: readonly string[];
}

const offers = ({ name, typeIds, chainIds }: InstalledPack): string[] => [name, ...typeIds, ...chainIds];

/** The version that serves new runs comes first. */
function offering(packs: readonly InstalledPack[], word: string): [InstalledPack, ...InstalledPack[]] {
  const [first, ...others] = packs.filter((pack) => offers(pack).includes(word));
  if (first) return [first, ...others];
  const builtIn = word.startsWith('core.')
    ? ' Types of core are built into the host: see docs/nodes.md.'
    : '';
  const hint = didYouMean(word, packs.flatMap(offers)) || builtIn || ' See `gantry pack ls`.';
  throw new UsageError(`No installed pack offers "${word}".${hint}`);
}

async function usesOf(client: Client, typeIds: ReadonlySet<string>): Promise<Use[]> {
  const uses: Use[] = [];
  for (const { workflowId } of await client.workflows.list()) {
    const { nodes } = await client.workflows.get(workflowId);
    const using = nodes.filter(({ typeId }) => typeIds.has(typeId)).map(({ id }) => id);
    if (using.length > 0) uses.push({ workflowId, nodes: using });
  }
  return uses;
}

export const why: Action = {
  takes: '<word>',
  async act(call, word = '') {
    const [pack, ...others] = offering(await call.client.packs.list(), word);
    const typeIds = new Set(word === pack.name ? pack.typeIds : [word]);
    const uses = await usesOf(call.client, typeIds);
    if (call.args.flag('json')) return printJson(call, { pack, others, uses });
    print(call, { word, pack, others, uses });
  },
};

function storing({ access, capabilities, declared }: PackSurfaces): string {
  const does = access === 'write' ? 'store' : 'read what is stored';
  const through = capabilities.join(', ');
  const why = declared ? '' : '; its manifest names none, these were granted';
  return `It may ${does} through the host: ${through}${why}`;
}

interface Answer {
  readonly word: string;
  readonly pack: InstalledPack;
  readonly others: readonly InstalledPack[];
  readonly uses: readonly Use[];
}

function print({ io }: Call, { word, pack, others, uses }: Answer): void {
  const line = (text: string) => io.stdout.write(`${printable(text)}\n`);
  const label = `${pack.name}@${pack.version}`;
  line(
    word === pack.name ? `${label} offers ${offers(pack).slice(1).join(', ')}` : `${word} is from ${label}`,
  );
  line(`${proofOf(pack)}, installed by ${pack.installedBy} at ${pack.installedAt}`);
  for (const { name, version } of others) line(`also in ${name}@${version}`);
  const surfaces = pack.surfaces?.capabilities.length ? pack.surfaces : undefined;
  if (pack.granted.length === 0 && !surfaces) line('It has no permissions: it only computes.');
  if (pack.granted.length > 0) line('It may:');
  if (pack.granted.length > 0) printPermissions({ io }, pack.granted);
  if (surfaces) line(storing(surfaces));
  printUndetermined({ io }, pack.surfaces?.undetermined ?? []);
  line(uses.length === 0 ? 'No workflow uses it.' : 'Workflows that use it:');
  for (const { workflowId, nodes } of uses) line(`  ${workflowId}: ${nodes.join(', ')}`);
}
