/**
 * Packs from a registry to a host. All of them are fetched and proved, and a person has approved what they ask
 * for, before the first is handed over. They wait on disk, so that one archive at a time is in memory.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ApiError } from '@gantry/client';
import { type FetchedPack, judgeFetched, type TrustPolicy } from '@gantry/packs';
import { type InstalledPack, OpenwopError } from '@gantry/protocol';
import type { Call } from '../../command.ts';
import { UsageError } from '../../io.ts';
import { createPainter } from '../../painter.ts';
import { printable } from '../../style.ts';
import { approve, namedGrants, type ProvedWish, wishOf } from './approval.ts';
import { sizeOf } from './size.ts';
import { trustFileOf, trustIn } from './trusted.ts';

/** A version that was chosen, and how to get it. */
export interface ChosenPack {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  /** Requested exactly: a withdrawn version is then a warning, not an error. */
  readonly isExact: boolean;
  /** The lockfile names these bytes. */
  readonly isLocked: boolean;
  fetch(): Promise<FetchedPack>;
}

export interface Delivery {
  readonly installed: readonly InstalledPack[];
  /** What the host had already, with the version that serves new runs: the one that was installed last. */
  readonly present: readonly (InstalledPack & { readonly serving: string })[];
}

interface Proved extends ProvedWish {
  readonly file: string;
  readonly isExact: boolean;
}

/** Installs them in the order given. `named` is the pack that the command line names. */
export async function deliver(call: Call, packs: readonly ChosenPack[], named?: string): Promise<Delivery> {
  refuseStrayGrants(call, packs, named);
  const there = await call.client.packs.list();
  const present = packs.flatMap((pack) => {
    const found = there.find((one) => isSame(one, pack));
    // The host lists the version that serves first.
    const serving = there.find(({ name }) => name === pack.name)?.version ?? pack.version;
    return found ? [{ ...found, serving }] : [];
  });
  const missing = packs.filter((pack) => !there.some((one) => isSame(one, pack)));
  const folder = await mkdtemp(path.join(tmpdir(), 'gantry-packs-'));
  try {
    const proved = await proveAll(call, missing, folder);
    await approve(call, proved, named);
    return { present, installed: await handOver(call, proved) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const isSame = (one: InstalledPack, { name, version, integrity }: ChosenPack): boolean =>
  one.name === name && one.version === version && one.integrity === integrity && !one.development;

/** A grant for no pack is a typing error. */
function refuseStrayGrants(call: Call, packs: readonly ChosenPack[], named: string | undefined): void {
  const stray = [...namedGrants(call, named).keys()].find(
    (name) => !packs.some((pack) => pack.name === name),
  );
  if (stray !== undefined)
    throw new UsageError(`--grant names ${stray}, which is not among the packs to install.`);
}

async function proveAll(call: Call, packs: readonly ChosenPack[], folder: string): Promise<Proved[]> {
  const { io } = call;
  const painter = createPainter(io.stderr);
  const proved: Proved[] = [];
  try {
    for (const [index, pack] of packs.entries()) {
      io.signal.throwIfAborted();
      painter.live([`Fetching ${index + 1} of ${packs.length}: ${pack.name}@${pack.version}`]);
      const fetched = await pack.fetch();
      const { warnings, summary, signedBy } = await prove(call, pack, fetched);
      painter.print([...warnings, `fetched ${summary}`].map(printable));
      const file = path.join(folder, `${index}.tgz`);
      await writeFile(file, fetched.bytes);
      const wish = wishOf(fetched.manifest, fetched.archive.files);
      proved.push({ ...wish, signedBy, file, isExact: pack.isExact });
    }
  } finally {
    painter.close();
  }
  return proved;
}

/** By the keys of the registry it came from; its integrity was proved when it was fetched. */
async function prove(call: Call, { isExact, isLocked, ...pin }: ChosenPack, fetched: FetchedPack) {
  const file = await trustFileOf(call);
  const trust = file && trustIn(file, fetched.registry);
  const usual: TrustPolicy = { mode: call.args.flag('unverified') ? 'open' : 'verified' };
  const keys = trust ? trust.keysWith(fetched.keys) : fetched.keys;
  const judgement = await judgeFetched(
    { ...fetched, keys },
    {
      policy: trust?.policy ?? usual,
      isExact,
      pins: isLocked ? [pin] : [],
      now: call.io.now(),
      ...(trust?.sigstore && { sigstore: trust.sigstore }),
    },
  );
  if (judgement.trusted) {
    const by = judgement.signedBy === undefined ? judgement.level : `signed by ${judgement.signedBy}`;
    const summary = `${fetched.name}@${fetched.version}  ${sizeOf(fetched.bytes.length)}, ${by}`;
    return { warnings: judgement.warnings, summary, signedBy: judgement.signedBy };
  }
  const { code, message, next } = judgement;
  const open = code === 'pack_signature_unverifiable' ? ' To install it all the same, add --unverified.' : '';
  throw new OpenwopError(code, { message: `${message} ${next}${open}` });
}

/** What a host answers about a signature that was proved here, when it does not know the key. */
const UNKNOWN_KEY = ['pack_trust_downgrade', 'pack_signature_unverifiable'];

async function handOver({ client, io, args }: Call, proved: readonly Proved[]): Promise<InstalledPack[]> {
  const installed: InstalledPack[] = [];
  const painter = createPainter(io.stderr);
  try {
    for (const [index, { name, version, requires, file, isExact }] of proved.entries()) {
      const older = isExact || args.flag('older');
      painter.live([`Installing ${index + 1} of ${proved.length}: ${name}@${version}`]);
      installed.push(await client.packs.install(await readFile(file), { grant: requires, older }));
    }
  } catch (error) {
    if (installed.length > 0)
      painter.print([
        `${installed.length} of ${proved.length} are installed. The same command goes on from there.`,
      ]);
    if (error instanceof ApiError && UNKNOWN_KEY.includes(error.code))
      painter.print(['The host itself does not know the key. Name the key in its trust file.']);
    throw error;
  } finally {
    painter.close();
  }
  return installed;
}
