/** Security advisories of another registry, as far as they are about packs that are here. */
import { readAdvisories, type SecurityAdvisory } from '@gantry/packs';
import { OpenwopError } from '@gantry/protocol';
import { Check } from 'typebox/value';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { PublishedAdvisory } from '../derived/advisory.ts';
import type { AdvisoryBoard } from '../derived/advisory-board.ts';

const KNOWN_FIELDS = Object.keys(PublishedAdvisory.properties);

export interface RefusedAdvisory {
  readonly id: string;
  readonly reason: string;
}

export interface CopiedAdvisories {
  readonly count: number;
  readonly refused: readonly RefusedAdvisory[];
}

export async function copyAdvisories(
  feed: unknown,
  { board, catalogue }: { readonly board: AdvisoryBoard; readonly catalogue: Catalogue },
): Promise<CopiedAdvisories> {
  const refused: RefusedAdvisory[] = [];
  let count = 0;
  for (const advisory of feed === undefined ? [] : readAdvisories(feed).advisories) {
    const here = advisory.affected.filter(({ packName }) => catalogue.summary(packName) !== undefined);
    if (here.length === 0) continue;
    const problem = await publish(board, { ...advisory, affected: here });
    if (problem === undefined) count++;
    else refused.push({ id: advisory.id, reason: problem });
  }
  return { count, refused };
}

/** Why it was not published. What a newer feed adds is left out; what it lacks is told. */
async function publish(board: AdvisoryBoard, advisory: SecurityAdvisory): Promise<string | undefined> {
  const known = Object.fromEntries(
    Object.entries(advisory).filter(([field]) => KNOWN_FIELDS.includes(field)),
  );
  if (!Check(PublishedAdvisory, known)) return 'It is not written as this registry can serve it.';
  try {
    await board.publish(known);
    return undefined;
  } catch (error) {
    if (error instanceof OpenwopError) return error.message;
    throw error;
  }
}
