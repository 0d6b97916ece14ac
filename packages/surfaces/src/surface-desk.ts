/**
 * The one place where pack code meets host capabilities.
 *
 * @example
 * const desk = createSurfaceDesk({ surfaces: [kv, cache], now: Date.now, onCall: (report) => {} });
 * const calls = desk.open(facts, journal);              // one for each dispatch of a node
 * sandbox.invoke({ surfaces: desk.table, call: (path, args, io) => calls.call(path, args, io) });
 */
import type { JsonObject } from '@gantry/protocol';
import type { CallJournal } from './call-journal.ts';
import { isObject } from './data.ts';
import type { ImplementedSurface } from './define-surface.ts';
import { type CallDeps, NodeCalls } from './node-calls.ts';
import { createRoutes } from './routes.ts';
import { SPELLINGS } from './spellings.ts';
import type { NodeFacts } from './surface-call.ts';

export interface SurfaceDeskOptions extends CallDeps {
  readonly surfaces: readonly ImplementedSurface[];
}

export interface SurfaceDesk {
  /** How every offered ctx path behaves in the child. */
  readonly table: Readonly<Record<string, 'unary' | 'stream'>>;
  /** The calls of one node at work: keep it for one invocation of the sandbox. */
  open(facts: NodeFacts, journal: CallJournal): NodeCalls;
  /** Families of the discovery document, by capability. */
  discovery(): JsonObject;
  /** Every name that a peer dependency may use, with the options that it may ask for. */
  capabilities(): Map<string, readonly string[]>;
}

export function createSurfaceDesk({ surfaces, ...deps }: SurfaceDeskOptions): SurfaceDesk {
  const routes = createRoutes(surfaces, SPELLINGS);
  const kinds = [...routes.paths].map(([path, [route]]) => [path, route?.method.kind ?? 'unary'] as const);
  return {
    table: Object.fromEntries(kinds),
    open: (facts, journal) => new NodeCalls(routes, deps, facts, journal),
    discovery: () =>
      Object.fromEntries(surfaces.map(({ literal, advertises }) => [literal.capability, advertises])),
    capabilities: () => new Map(surfaces.flatMap(namesOf)),
  };
}

function namesOf({ literal, lacks, advertises }: ImplementedSurface): [string, readonly string[]][] {
  const offered = Object.keys(literal.options ?? {}).filter((option) => !lacks.includes(option));
  const options = [...new Set([...offered, ...flagsOf(advertises)])];
  const names = [literal.capability, ...(literal.aliases ?? [])];
  return names.flatMap((name) => [
    ...[name, `host.${name}`].map((each): [string, readonly string[]] => [each, options]),
    ...options.flatMap((option): [string, readonly string[]][] => [
      [`${name}.${option}`, []],
      [`host.${name}.${option}`, []],
    ]),
  ]);
}

/** What discovery says yes to, by its path: `stream.fromBeginning`. */
const flagsOf = (entry: JsonObject, under = ''): string[] =>
  Object.entries(entry).flatMap(([name, value]) => {
    if (value === true) return name === 'supported' ? [] : [`${under}${name}`];
    return isObject(value) ? flagsOf(value, `${under}${name}.`) : [];
  });
