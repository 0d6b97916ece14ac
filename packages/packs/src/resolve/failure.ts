import { type JsonObject, OpenwopError } from '@gantry/protocol';
import type { Registries } from '../registry/registries.ts';
import type { Candidate } from './range.ts';

/** A request for a pack, as error messages name it. */
export interface Asker {
  /** The name of the root, or `name@version`. */
  readonly requestedBy: string;
  readonly range: string;
  /** From the root down to the requester. */
  readonly chain: readonly string[];
}

const LISTED_MAX = 20;

const ranges = (askers: readonly Asker[]): JsonObject[] =>
  askers.map(({ requestedBy, range }) => ({ requestedBy, range }));

const described = (askers: readonly Asker[]): string =>
  askers.map(({ chain, range }) => `${chain.join(' → ')} asks for ${range}`).join('; ');

const offered = (candidates: readonly Candidate[]): string[] =>
  candidates.filter(({ yanked }) => yanked === undefined).map(({ version }) => version);

export const conflict = (
  name: string,
  askers: readonly Asker[],
  candidates: readonly Candidate[],
): OpenwopError =>
  new OpenwopError('pack_dependency_conflict', {
    message: `No version of ${name} satisfies every range: ${described(askers)}. Available: ${listed(offered(candidates))}. Change one of the ranges, or pin ${name} in overrides.`,
    details: { packName: name, conflictingRanges: ranges(askers) },
  });

export const uselessOverride = (name: string, version: string, askers: readonly Asker[]): OpenwopError =>
  new OpenwopError('pack_dependency_conflict', {
    message: `The override pins ${name} to ${version}, which satisfies none of the ranges: ${described(askers)}. Pin a version that satisfies at least one of them.`,
    details: { packName: name, override: version, conflictingRanges: ranges(askers) },
  });

export function notFound(
  name: string,
  { requestedBy, range, chain }: Asker,
  candidates: readonly Candidate[],
  { offline, asked }: Registries,
): OpenwopError {
  const available = offered(candidates);
  const withdrawn = candidates.filter(({ yanked }) => yanked !== undefined).map(({ version }) => version);
  const known = [
    ...(available.length > 0
      ? [`Available${offline ? ' locally (offline mode)' : ''}: ${listed(available)}. Ask for one of these.`]
      : []),
    ...(withdrawn.length > 0 ? [`Withdrawn: ${listed(withdrawn)}; only an exact pin gets one.`] : []),
  ];
  const next = known.length > 0 ? known.join(' ') : unknownPack(offline, asked);
  return new OpenwopError('pack_version_not_found', {
    message: `No version of ${name} satisfies ${range}, requested by ${chain.join(' → ')}. ${next}`,
    details: {
      packName: name,
      range,
      requestedBy,
      available: available.slice(0, LISTED_MAX),
      ...(offline && { offline }),
    },
  });
}

function unknownPack(offline: boolean, asked: Registries['asked']): string {
  if (offline) return 'Offline mode, and no version is available locally. Copy the pack here, or go online.';
  const where =
    asked.length === 0 ? 'No registry is configured' : `Asked: ${asked.map(({ url }) => url).join(', ')}`;
  return `${where}. Check the name, or add a registry that has the pack.`;
}

function listed(versions: readonly string[]): string {
  const more = versions.length - LISTED_MAX;
  const shown = versions.slice(0, LISTED_MAX).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown || 'no versions';
}
