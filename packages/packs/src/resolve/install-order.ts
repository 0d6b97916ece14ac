import { OpenwopError } from '@gantry/protocol';

interface Dependent {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Dependencies first, otherwise by name. A cycle is `pack_dependency_cycle`. */
export function installOrder<T extends Dependent>(packs: readonly T[]): T[] {
  const byName = new Map(packs.map((pack) => [pack.name, pack]));
  const done = new Set<string>();
  const order: T[] = [];
  for (const { name } of packs.toSorted(byNameOrder)) visit(name);
  return order;

  /** Walks without recursion: a chain of dependencies may be as long as the lockfile. */
  function visit(start: string): void {
    const path = [{ name: start, left: dependenciesOf(start) }];
    const onPath = new Set([start]);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = done.has(top.name) ? undefined : top.left.pop();
      if (next === undefined) {
        finish(top.name);
        onPath.delete(top.name);
        path.pop();
      } else if (onPath.has(next)) throw cycleError([...path.map(({ name }) => name), next]);
      else if (byName.has(next) && !done.has(next)) {
        onPath.add(next);
        path.push({ name: next, left: dependenciesOf(next) });
      }
    }
  }

  function dependenciesOf(name: string): string[] {
    return Object.keys(byName.get(name)?.dependencies ?? {})
      .sort()
      .reverse();
  }

  function finish(name: string): void {
    const pack = byName.get(name);
    if (pack !== undefined && !done.has(name)) order.push(pack);
    done.add(name);
  }
}

const byNameOrder = (left: Dependent, right: Dependent): number => (left.name < right.name ? -1 : 1);

function cycleError(path: readonly string[]): OpenwopError {
  const cycle = path.slice(path.indexOf(path.at(-1) ?? ''));
  return new OpenwopError('pack_dependency_cycle', {
    message: `Packs depend on each other in a cycle: ${cycle.join(' → ')}. Use a version of one of them that does not depend on the next one.`,
    details: { cycle },
  });
}
