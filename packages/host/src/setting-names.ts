/** Names in the environment that look like settings and are none: mostly slips of the hand. Pure. */

/** Of the command line, of a registry that stands alone, and of tests. They may be set where a host starts. */
const OF_OTHERS = [
  'GANTRY_URL',
  'GANTRY_REGISTRY_KEY',
  'GANTRY_REGISTRY_HOST',
  'GANTRY_REGISTRY_PORT',
  'GANTRY_REGISTRY_DATA_DIR',
  'GANTRY_REGISTRY_STORAGE',
  'GANTRY_REGISTRY_PUBLIC_URL',
  'GANTRY_REGISTRY_NAME',
  'GANTRY_REGISTRY_UNSIGNED',
  'GANTRY_REGISTRY_PRIVATE',
  'GANTRY_S3_ENDPOINT',
  'GANTRY_CRASH_ROUNDS',
  'GANTRY_CRASH_SEED',
  'GANTRY_UPDATE_GOLDEN',
];
const PREFIX = 'GANTRY_';
const OF_TESTS = 'GANTRY_TEST_';

/** One sentence for each; a value is never repeated. */
export function unknownNames(
  env: Readonly<Record<string, string | undefined>>,
  settings: readonly string[],
): string[] {
  const known = [...settings, ...OF_OTHERS];
  const unknown = Object.keys(env).filter(
    (name) => env[name] && name.startsWith(PREFIX) && !name.startsWith(OF_TESTS) && !known.includes(name),
  );
  return unknown.map((name) => {
    const meant = nearest(name, known);
    return `${name} is no setting, so it changes nothing.${meant ? ` Did you mean ${meant}?` : ''}`;
  });
}

/** What all names begin with says nothing about which of them was meant. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const word = name.slice(PREFIX.length);
  const farMax = Math.max(1, Math.floor(word.length / 3));
  const ranked = known
    .map((each) => ({ each, far: each.startsWith(name) ? 0.5 : distance(word, each.slice(PREFIX.length)) }))
    .filter(({ far }) => far <= farMax)
    .sort((left, right) => left.far - right.far);
  return ranked[0]?.each;
}

/** How many letters have to be put in, taken out or replaced. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...to].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
