import { OpenwopError } from '@gantry/protocol';

interface Dependent {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Dependencies first, otherwise by name. A cycle is `pack_dependency_cycle`. */
export function installOrder<T extends Dependent>(packs: readonly T[]): T[] {
  const byName = new Map(packs.map((pack) => [pack.name, pack]));
  const done = new Set<T>();
  for (const pack of [...byName.values()].sort(byNameOrder)) visit(pack);
  return [...done];

  /** Not recursive: a chain of dependencies may be as long as the lockfile. */
  function visit(start: T): void {
    const path = [{ pack: start, left: dependenciesOf(start) }];
    const onPath = new Set([start]);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = done.has(top.pack) ? undefined : top.left.pop();
      if (next === undefined) {
        done.add(top.pack);
        onPath.delete(top.pack);
        path.pop();
      } else if (onPath.has(next)) throw cycleError([...path.map(({ pack }) => pack.name), next.name]);
      else if (!done.has(next)) {
        onPath.add(next);
        path.push({ pack: next, left: dependenciesOf(next) });
      }
    }
  }

  /** In reverse order. */
  function dependenciesOf({ dependencies = {} }: T): T[] {
    const names = Object.keys(dependencies).sort().reverse();
    return names.flatMap((name) => byName.get(name) ?? []);
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
