import { OpenwopError } from '@gantry/protocol';
import type { Signing } from '../manifest/fields.ts';
import type { Registries } from '../registry/registries.ts';
import { checkAsked, quoted } from '../registry/registry.ts';
import type { RegistryRecord } from '../trust/judge-trust.ts';
import { type FailureContext, failureError } from './failure.ts';
import { Knowledge } from './knowledge.ts';
import type { Need } from './learner.ts';
import { type Outcome, type RootRequest, search } from './search.ts';
import type { Choice, Selection } from './selection.ts';

export interface Root {
  readonly name: string;
  readonly range: string;
  /** Who wants it, in the words of the caller: a workflow, a setting. */
  readonly requestedBy: string;
}

export interface ResolvedPack {
  readonly name: string;
  readonly version: string;
  /** The address of the registry that it comes from. */
  readonly registry: string;
  readonly tarballUrl: string;
  readonly record: RegistryRecord;
  readonly signing?: Signing;
  /** Exact versions by name. */
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly requires: readonly string[];
  readonly requestedBy: readonly { readonly requestedBy: string; readonly range: string }[];
  /** Somebody named exactly this version, so its being withdrawn is a warning and no refusal. */
  readonly isExact: boolean;
}

export interface Resolution {
  /** By name. */
  readonly packs: readonly ResolvedPack[];
  readonly overrides: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

export interface ResolveOptions {
  readonly roots: readonly Root[];
  /** Exact versions that beat every range. */
  readonly overrides?: Readonly<Record<string, string>>;
  readonly registries: Registries;
}

const ROOTS_MAX = 10_000;

/** Chooses one version for every pack that the roots lead to, by the rules in `search.ts`, or says why it cannot. */
export async function resolvePacks(options: ResolveOptions): Promise<Resolution> {
  const { registries, overrides = {} } = options;
  const knowledge = new Knowledge(registries);
  const roots = readRoots(options.roots, knowledge);
  for (const [name, version] of Object.entries(overrides)) checkAsked(name, version);
  for (const { name, range } of roots) knowledge.foresee(name, range);
  try {
    const outcome = await answered(search(roots, new Map(Object.entries(overrides)), knowledge), knowledge);
    return resolutionOf(selectionOf(outcome, registries), knowledge, overrides);
  } finally {
    knowledge.close();
  }
}

function readRoots(roots: readonly Root[], knowledge: Knowledge): RootRequest[] {
  if (roots.length > ROOTS_MAX)
    throw new OpenwopError('validation_error', { message: `More than ${ROOTS_MAX} packs are asked for.` });
  return roots.map(({ name, range: text, requestedBy }) => {
    checkAsked(name);
    const range = knowledge.range(text);
    if (range !== undefined) return { name, range, requestedBy };
    throw new OpenwopError('pack_version_not_found', {
      message: `${requestedBy} asks for ${name} with ${quoted(text)}, which is no range of versions. Write one such as ^1.2.0.`,
      details: { packName: name, range: text.slice(0, 256), requestedBy, available: [] },
    });
  });
}

async function answered(steps: Generator<Need, Outcome, void>, knowledge: Knowledge): Promise<Outcome> {
  let step = steps.next();
  while (step.done !== true) {
    await knowledge.learn(step.value);
    step = steps.next();
  }
  return step.value;
}

function selectionOf(outcome: Outcome, registries: Registries): Selection {
  if (outcome.kind === 'found') return outcome.selection;
  const { offline, asked } = registries;
  const context: FailureContext = { offline, registries: asked.map(({ url }) => url) };
  const error = failureError(outcome.failure, context);
  if (outcome.kind === 'failed') throw error;
  throw new OpenwopError('pack_dependency_conflict', {
    message: `The search for versions that fit together was given up, it takes too long. Narrow the ranges, or pin packs in overrides. The first obstacle: ${error.message}`,
    details: error.details ?? {},
  });
}

function resolutionOf(
  selection: Selection,
  knowledge: Knowledge,
  overrides: Readonly<Record<string, string>>,
): Resolution {
  const choices = [...selection.choices.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  const packs = choices.map((choice) => resolvedPack(choice, selection, knowledge, overrides));
  return { packs, overrides, warnings: packs.flatMap((pack) => warningsOf(pack)) };
}

function resolvedPack(
  { name, candidate: { version }, dependencies }: Choice,
  selection: Selection,
  knowledge: Knowledge,
  overrides: Readonly<Record<string, string>>,
): ResolvedPack {
  const { registry, manifest } = knowledge.manifest(name, version);
  const requests = selection.requestsFor(name);
  const pins = [...dependencies.keys()].map((dependency): [string, string] => {
    const chosen = selection.choices.get(dependency);
    return [dependency, chosen?.candidate.version ?? ''];
  });
  return {
    name,
    version,
    registry: registry.url,
    tarballUrl: manifest.tarballUrl,
    record: manifest.record,
    ...(manifest.signing === undefined ? {} : { signing: manifest.signing }),
    dependencies: Object.fromEntries(pins),
    peerDependencies: manifest.peerDependencies,
    requires: manifest.requires,
    requestedBy: requests.map((request) => {
      const { requestedBy, range } = selection.asker(request);
      return { requestedBy, range };
    }),
    isExact: Object.hasOwn(overrides, name) || requests.some(({ range }) => range.exact !== undefined),
  };
}

function warningsOf({ name, version, record: { yanked, deprecated } }: ResolvedPack): string[] {
  const warnings: string[] = [];
  if (yanked)
    warnings.push(
      `${name}@${version} is yanked: ${yanked.reason ?? 'no reason given'}. It is used since it is pinned exactly.`,
    );
  if (deprecated) {
    const instead = deprecated.supersededBy === undefined ? '' : `; superseded by ${deprecated.supersededBy}`;
    warnings.push(`${name}@${version} is deprecated: ${deprecated.reason ?? 'no reason given'}${instead}.`);
  }
  return warnings;
}
