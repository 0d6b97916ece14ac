import { type JsonObject, OpenwopError } from '@gantry/protocol';

/** One who asks for a pack: a root, or a chosen version of a pack. */
export interface Asker {
  /** The root's own word for itself, or `name@version`. */
  readonly requestedBy: string;
  readonly range: string;
  /** From the root down to the one who asks. */
  readonly chain: readonly string[];
}

/** Why a choice of versions does not work out. */
export type Failure =
  | {
      readonly kind: 'conflict';
      readonly name: string;
      readonly askers: readonly Asker[];
      readonly available: readonly string[];
      /** No version suits all who ask; otherwise one would, and fails elsewhere. */
      readonly isFinal: boolean;
    }
  | {
      readonly kind: 'not-found';
      readonly name: string;
      readonly asker: Asker;
      readonly available: readonly string[];
      readonly withdrawn: readonly string[];
    }
  | { readonly kind: 'cycle'; readonly cycle: readonly string[]; readonly chain: readonly string[] }
  | {
      readonly kind: 'override';
      readonly name: string;
      readonly version: string;
      readonly askers: readonly Asker[];
    };

export interface FailureContext {
  readonly offline: boolean;
  readonly registries: readonly string[];
}

const LISTED_MAX = 20;

export function failureError(failure: Failure, context: FailureContext): OpenwopError {
  switch (failure.kind) {
    case 'conflict':
      return conflictError(failure);
    case 'not-found':
      return notFoundError(failure, context);
    case 'cycle':
      return cycleError(failure);
    case 'override':
      return overrideError(failure);
  }
}

const ranges = (askers: readonly Asker[]): JsonObject[] =>
  askers.map(({ requestedBy, range }) => ({ requestedBy, range }));

const words = (askers: readonly Asker[]): string =>
  askers.map(({ chain, range }) => `${chain.join(' → ')} asks for ${range}`).join('; ');

function conflictError({ name, askers, available }: Failure & { kind: 'conflict' }): OpenwopError {
  return new OpenwopError('pack_dependency_conflict', {
    message: `No version of ${name} suits everyone who asks for it: ${words(askers)}. There are ${listed(available)}. Change one of the ranges, or pin ${name} in overrides.`,
    details: { packName: name, conflictingRanges: ranges(askers) },
  });
}

function overrideError({ name, version, askers }: Failure & { kind: 'override' }): OpenwopError {
  return new OpenwopError('pack_dependency_conflict', {
    message: `The override pins ${name} to ${version}, which suits nobody who asks for it: ${words(askers)}. Pin a version that at least one of them takes.`,
    details: { packName: name, override: version, conflictingRanges: ranges(askers) },
  });
}

function cycleError({ cycle, chain }: Failure & { kind: 'cycle' }): OpenwopError {
  return new OpenwopError('pack_dependency_cycle', {
    message: `Packs depend on each other in a circle: ${cycle.join(' → ')}, reached through ${chain.join(' → ')}. Use a version of one of them that does without the next one.`,
    details: { cycle: [...cycle] },
  });
}

function notFoundError(failure: Failure & { kind: 'not-found' }, context: FailureContext): OpenwopError {
  const { name, asker, available, withdrawn } = failure;
  const { requestedBy, range, chain } = asker;
  const what = [
    ...(available.length > 0 ? [there(available, context)] : []),
    ...(withdrawn.length > 0 ? [`Withdrawn: ${listed(withdrawn)}; only an exact pin gets one.`] : []),
  ];
  const told = what.length > 0 ? what.join(' ') : nobodyKnows(context);
  return new OpenwopError('pack_version_not_found', {
    message: `There is no ${name} in the range ${range}, which ${chain.join(' → ')} asks for. ${told}`,
    details: {
      packName: name,
      range,
      requestedBy,
      available: available.slice(0, LISTED_MAX),
      ...(context.offline ? { offline: true } : {}),
    },
  });
}

const there = (available: readonly string[], { offline }: FailureContext): string =>
  offline
    ? `This is offline; available locally: ${listed(available)}. Ask for one of these, or go online.`
    : `There are ${listed(available)}. Ask for one of these.`;

function nobodyKnows({ offline, registries }: FailureContext): string {
  if (offline)
    return 'This is offline, and no version is available locally. Bring the pack in, or go online.';
  const asked = registries.length === 0 ? 'No registry is configured' : `Asked: ${registries.join(', ')}`;
  return `${asked}. Check the name, or add a registry that has the pack.`;
}

function listed(versions: readonly string[]): string {
  const more = versions.length - LISTED_MAX;
  const shown = versions.slice(0, LISTED_MAX).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown || 'no versions';
}
