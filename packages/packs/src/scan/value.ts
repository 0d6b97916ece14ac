/** The possible values of an expression, as far as they concern host surfaces. */
import { SURFACE_NAMES } from '@gantry/protocol';
import type { AnyNode } from 'acorn';

/** A function of the module. Its scope has the values of its parameters and results. */
export interface Fn {
  readonly node: AnyNode & { readonly params: readonly AnyNode[] };
  readonly scope: Scope;
}

/** The scope of a function or a module. */
export interface Scope {
  readonly parent: Scope | undefined;
  readonly bindings: ReadonlyMap<string, Value>;
  readonly returns: Value;
}

/** Values only grow, so that repeated passes end. An array has the values of its items. */
export interface Value {
  /** Members of `ctx`: `''` is `ctx` itself, `storage` a part of it that contains surfaces. */
  readonly paths: Set<string>;
  readonly strings: Set<string>;
  readonly fns: Set<Fn>;
  /** The value may also be something unknown. */
  other: boolean;
}

export const nothing = (): Value => ({ paths: new Set(), strings: new Set(), fns: new Set(), other: false });
export const unknown = (): Value => ({ ...nothing(), other: true });
export const text = (string: string): Value => ({ ...nothing(), strings: new Set([string]) });
export const at = (path: string): Value => ({ ...nothing(), paths: new Set([path]) });

/** Returns whether anything was added. */
export function merge(into: Value, more: Value): boolean {
  const before = sizeOf(into);
  for (const path of more.paths) into.paths.add(path);
  // A string with too many sources is not followed any more.
  if (into.strings.size + more.strings.size > STRINGS_MAX) into.other = true;
  else for (const string of more.strings) into.strings.add(string);
  for (const fn of more.fns) into.fns.add(fn);
  into.other ||= more.other;
  return sizeOf(into) !== before;
}

const STRINGS_MAX = 64;

const sizeOf = ({ paths, strings, fns, other }: Value): number =>
  paths.size + strings.size + fns.size + Number(other);

export const union = (...values: readonly Value[]): Value => {
  const all = nothing();
  for (const value of values) merge(all, value);
  return all;
};

const CAPABILITIES: ReadonlyMap<string, string> = new Map(
  SURFACE_NAMES.flatMap(({ capability, path, aliases, members = [path] }) =>
    [...members, ...aliases.filter((alias) => alias.includes('.'))].map((each) => [each, capability]),
  ),
);

/** The surface at a path of `ctx`. */
export const surfaceAt = (path: string): string | undefined => CAPABILITIES.get(path);

/** Whether there are surfaces below a path of `ctx`. */
export const holdsSurfaces = (path: string): boolean =>
  [...CAPABILITIES.keys()].some((each) => each.startsWith(`${path}.`));

export const SURFACE_PATHS: readonly (readonly [path: string, capability: string])[] = [...CAPABILITIES];
