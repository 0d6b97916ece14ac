/**
 * The only entry point of pack code to host capabilities.
 *
 * @example
 * const gate = createCallGate({ surfaces: [kv, cache], now: Date.now, onCall: (report) => {} });
 * const calls = gate.open(facts, journal);              // one for each dispatch of a node
 * sandbox.invoke({ surfaces: gate.table, call: (path, args, io) => calls.call(path, args, io) });
 */
import { flagsOf, given, type JsonObject, OpenwopError } from '@gantry/protocol';
import type { CallJournal } from './call-journal.ts';
import { SPELLINGS } from './catalogue.ts';
import type { Data, DataObject } from './data.ts';
import type { ImplementedSurface, MethodLiteral } from './define-surface.ts';
import { type CallDeps, NodeCalls } from './node-calls.ts';
import { createRoutes, type Route } from './routes.ts';
import type { NodeFacts, PersonFacts } from './surface-call.ts';

export interface CallGateOptions extends CallDeps {
  readonly surfaces: readonly ImplementedSurface[];
}

export interface CallGate {
  /** How each offered ctx path behaves in the child process. */
  readonly table: Readonly<Record<string, 'unary' | NonNullable<MethodLiteral['kind']>>>;
  /** Paths that `open` also serves. */
  readonly primitives: readonly string[];
  /** Paths whose calls may wait long for external services. */
  readonly slow: ReadonlySet<string>;
  /** The calls of one running node. Use it for one invocation of the sandbox. */
  open(facts: NodeFacts, journal: CallJournal): NodeCalls;
  /** The same methods for people, if the surface's literal allows it. Rejects with `OpenwopError` when refused. */
  callForPerson(person: PersonFacts, call: PersonCall): Promise<Data>;
  /** Families of the discovery document, by capability. */
  discovery(): JsonObject;
  /** Every name that a peer dependency may use, with the options that it may request. */
  capabilities(): Map<string, readonly string[]>;
}

interface PersonCall {
  readonly path: string;
  readonly input: DataObject;
  readonly signal: AbortSignal;
}

export function createCallGate({ surfaces, ...deps }: CallGateOptions): CallGate {
  const routes = createRoutes(surfaces, SPELLINGS);
  const [primitives, members] = partition([...routes.paths]);
  const kinds = members.map(([path, [route]]) => [path, route?.method.kind ?? 'unary'] as const);
  const offered = surfaces.filter(({ literal }) => !literal.primitive && !literal.advertised);
  return {
    table: Object.fromEntries(kinds),
    primitives: primitives.map(([path]) => path),
    slow: new Set(members.flatMap(([path, [route]]) => (route?.method.slow ? [path] : []))),
    open: (facts, journal) => new NodeCalls(routes, deps, facts, journal),
    async callForPerson({ owner, request }, { path, input, signal }) {
      const { surface, name, method, capability, checkInput, checkOutput } = routes.find(path, input);
      if (!surface.literal.people || method.kind === 'stream')
        throw new OpenwopError('host_capability_missing', {
          message: `Only the code of packs can call ${path}.`,
          details: { capability },
        });
      checkInput(input);
      const caller = { kind: 'person' as const, actor: owner.principal, ...given({ request }) };
      return checkOutput(
        await surface.act(name, input, { owner, tenant: owner.tenant, caller, signal, now: deps.now() }),
      );
    },
    discovery: () =>
      Object.fromEntries(offered.map(({ literal, advertises }) => [literal.capability, advertises])),
    capabilities: () => new Map(offered.flatMap(namesOf)),
  };
}

type Path = readonly [path: string, routes: readonly Route[]];

function partition(paths: readonly Path[]): [primitives: Path[], members: Path[]] {
  const isPrimitive = ([, [route]]: Path): boolean => route?.surface.literal.primitive === true;
  return [paths.filter(isPrimitive), paths.filter((path) => !isPrimitive(path))];
}

/** A literal may have its own rule (`satisfies`) for peer dependencies; it replaces the flags, not the options. */
function namesOf({ literal, lacks, advertises }: ImplementedSurface): [string, readonly string[]][] {
  const offered = Object.keys(literal.options ?? {}).filter((option) => !lacks.includes(option));
  const { satisfies = flagsOf } = literal;
  const options = [...new Set([...offered, ...satisfies(advertises)])];
  const names = [literal.capability, ...literal.aliases].flatMap((name) => [name, `host.${name}`]);
  return names.flatMap((name) => [
    [name, options],
    ...options.map((option): [string, readonly string[]] => [`${name}.${option}`, []]),
  ]);
}
