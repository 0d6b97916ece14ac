import { didYouMean, given, invalid, OpenwopError, type Problem, problemsIn } from '@gantry/protocol';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { type Data, type DataObject, isObject } from './data.ts';
import { type ImplementedSurface, type MethodLiteral, pathOf } from './define-surface.ts';
import { knownTo, type Spelling, type Step } from './spelling.ts';

const ISSUES_SHOWN_MAX = 5;

export interface Route {
  readonly path: string;
  readonly surface: ImplementedSurface;
  readonly name: string;
  readonly method: MethodLiteral;
  /** `host.kvStorage.put` */
  readonly capability: string;
  readonly when?: string;
  readonly takes?: readonly Step[];
  readonly gives?: readonly Step[];
  /** Throws `validation_error`. */
  checkInput(input: DataObject): void;
  checkOutput(output: unknown): Data;
}

export interface Routes {
  readonly paths: ReadonlyMap<string, readonly Route[]>;
  /** The arguments of pack code as one object. Throws `validation_error`. */
  argumentOf(path: string, args: readonly Data[]): DataObject;
  /** Throws `host_capability_missing`. */
  find(path: string, input: DataObject): Route;
  /** The surfaces that a list of names selects. */
  namedBy(names: readonly string[]): ReadonlySet<ImplementedSurface>;
}

export function createRoutes(
  surfaces: readonly ImplementedSurface[],
  spellings: readonly Spelling[],
): Routes {
  const methods = new Map(surfaces.flatMap(methodsOf));
  const capabilities = new Set(surfaces.map(({ literal }) => literal.capability));
  const spelled = spellings.flatMap((spelling) => spelledRoute(spelling, methods, capabilities));
  const replaced = new Set(spelled.filter(({ when }) => when === undefined).map(({ path }) => path));
  const plain = [...methods.values()]
    .map((method) => method.at(method.own))
    .filter(({ path }) => !replaced.has(path));
  const paths = Map.groupBy([...spelled, ...plain].filter(isOffered), ({ path }) => path);
  const missing = (path: string): string => {
    const meant = spellings.find((spelling) => spelling.path === path)?.to;
    const known = [...methods.values()].find((method) => method.own === path)?.capability;
    return known ?? (meant === undefined ? path : `host.${meant}`);
  };
  return {
    paths,
    namedBy(given) {
      const names = given.map((name) => `${name.replace(/^(?:host|openwop)\./, '')}.`);
      const named = surfaces.filter(({ literal: { capability, aliases = [] } }) =>
        [capability, ...aliases].some((own) => names.some((name) => name.startsWith(`${own}.`))),
      );
      return new Set(named);
    },
    argumentOf: (path, args) => argumentOf(path, args, paths.get(path)?.[0]?.method.positional ?? []),
    find(path, input) {
      const isMeant = ({ when }: Route): boolean =>
        when === undefined || (Object.hasOwn(input, when) && input[when] !== false);
      const route = paths.get(path)?.find(isMeant);
      if (route) return route;
      throw new OpenwopError('host_capability_missing', {
        message: `This host does not offer ctx.${path} as it was called.`,
        details: { capability: missing(path) },
      });
    },
  };
}

function argumentOf(path: string, args: readonly Data[], positional: readonly string[]): DataObject {
  const [first = {}] = args;
  if (args.length <= 1 && isObject(first)) return first;
  if (args.length <= positional.length)
    return Object.fromEntries(args.map((value, at) => [positional[at]!, value]));
  const takes = positional.length === 0 ? 'one object' : `(${positional.join(', ')}), or one object`;
  throw invalid(`ctx.${path} takes ${takes}.`);
}

const isOffered = ({ surface, method: { needs } }: Route): boolean =>
  needs === undefined || !surface.lacks.includes(needs);

/** A method that can be routed by several paths. Refusals name the called path; `own` is the path of the contract. */
interface Method extends Pick<Route, 'capability'> {
  readonly own: string;
  at(path: string, takes?: readonly Step[]): Route;
}

function methodsOf(surface: ImplementedSurface): [string, Method][] {
  const { capability: of, methods } = surface.literal;
  return Object.entries(methods).map(([name, method]) => {
    const capability = `host.${of}.${name}`;
    const checksAt = checking(method);
    const route = { surface, name, method, capability };
    const at: Method['at'] = (path, takes) => ({
      path,
      ...route,
      ...checksAt(path, knownTo(takes)),
      ...given({ takes }),
    });
    return [`${of}.${name}`, { own: pathOf(surface.literal, name), capability, at }];
  });
}

function spelledRoute(
  { path, when, to, takes, gives }: Spelling,
  methods: ReadonlyMap<string, Method>,
  capabilities: ReadonlySet<string>,
): Route[] {
  const method = methods.get(to);
  if (method) return [{ ...method.at(path, takes), ...given({ when, gives }) }];
  if (capabilities.has(to.split('.')[0]!))
    throw new Error(`ctx.${path} is spelled for ${to}, which is absent`);
  return [];
}

/** Compiled on first use: most hosts use few of the methods. */
function checking({ input, output }: MethodLiteral) {
  const inputs = lazily(input);
  const outputs = lazily(output);
  return (path: string, also: readonly string[]): Pick<Route, 'checkInput' | 'checkOutput'> => ({
    checkInput(value) {
      // Checked first: a misspelt name is also reported as a missing one
      const unknown = unknownMember(input, value, also);
      const validator = inputs();
      if (unknown === null && validator.Check(value)) return;
      const issues = unknown ? [unknown] : problemsIn(validator, value).slice(0, ISSUES_SHOWN_MAX);
      const first = issues[0];
      throw invalid(
        `ctx.${path}: ${first ? `the argument${first.field} ${first.problem}` : 'the argument is not valid'}.`,
        { method: path, issues },
      );
    },
    checkOutput(value) {
      if (outputs().Check(value)) return value as Data;
      throw new Error(`ctx.${path} answered what its contract does not allow`);
    },
  });
}

function lazily(schema: TSchema) {
  let compiled: ReturnType<typeof Compile> | undefined;
  return () => {
    compiled ??= Compile(schema);
    return compiled;
  };
}

const NAME_SHOWN_MAX = 64;

interface Shaped {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
}

/** Lists of plain values may be long, and have no members to check. */
const hasMembers = ({ properties, items }: Shaped): boolean =>
  properties !== undefined || items !== undefined;

/** The first unknown member, also in nested lists and objects; null if none. `also`: further names at the top level. */
function unknownMember(
  schema: TSchema,
  value: Data | undefined,
  also: readonly string[] = [],
  at = '',
): Problem | null {
  const { properties, items } = schema as Shaped;
  if (items && hasMembers(items) && Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      const found = unknownMember(items, each, [], `${at}/${index}`);
      if (found) return found;
    }
  }
  if (!properties || !isObject(value)) return null;
  for (const [name, member] of Object.entries(value)) {
    const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (inner === undefined && member !== undefined && !also.includes(name))
      return unknown(name.slice(0, NAME_SHOWN_MAX), Object.keys(properties), also, at);
    const found = inner && unknownMember(inner, member, [], `${at}/${name}`);
    if (found) return found;
  }
  return null;
}

const unknown = (name: string, known: readonly string[], also: readonly string[], at: string): Problem => ({
  field: at,
  problem:
    `takes no \`${name}\`.${didYouMean(name, [...known, ...also])} ` +
    (known.length === 0 ? 'It takes nothing' : `It takes ${known.join(', ')}`),
});
