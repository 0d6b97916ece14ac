/** Longer names from outside are not repeated in messages, and get no suggestion. */
export const NAME_MAX = 64;
/** A word with more typing errors than this counts as another word. */
const SLIPS_MAX = 4;
/** A request may contain thousands of wrong names next to thousands of known ones. Limits the comparisons for each. */
const CANDIDATES_MAX = 20;

/** Edit distance in which a swap of two neighbours counts once. A distance above `limit` is returned as `limit + 1`. */
export function distance(from: string, to: string, limit = NAME_MAX): number {
  const far = limit + 1;
  const rowOf = (): number[] => new Array<number>(to.length + 1).fill(far);
  let [earlier, above, row] = [rowOf(), rowOf(), rowOf()];
  for (let i = 0; i <= from.length; i++) {
    [earlier, above, row] = [above, row, earlier.fill(far)];
    for (let j = Math.max(0, i - limit); j <= Math.min(to.length, i + limit); j++) {
      let best = i === 0 || j === 0 ? i + j : Math.min(above[j]!, row[j - 1]!) + 1;
      if (i > 0 && j > 0) best = Math.min(best, above[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        best = Math.min(best, earlier[j - 2]! + 1);
      row[j] = Math.min(best, far);
    }
  }
  return row[to.length]!;
}

/** A cheap check that holds for all near words, except with an error in both of the first letters. */
const mayBeNear = (word: string, name: string, limit: number): boolean =>
  Math.abs(word.length - name.length) <= limit &&
  (word[0] === name[0] || word[1] === name[1] || word[0] === name[1] || word[1] === name[0]);

/** The known word that was probably meant, if one is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > NAME_MAX) return undefined;
  const limit = Math.min(SLIPS_MAX, Math.max(1, Math.floor(word.length / 3)));
  const begins = word.length >= 3 ? known.find((name) => name.startsWith(word)) : undefined;
  let [best, far] = [begins, begins === undefined ? limit + 1 : 0.5];
  let looked = 0;
  for (const name of known) {
    if (!mayBeNear(word, name, limit)) continue;
    if (++looked > CANDIDATES_MAX) break;
    const found = distance(word, name, limit);
    if (found < far) [best, far] = [name, found];
  }
  return best;
}

/** @example didYouMean('rnus', ['run', 'runs']) // ' Did you mean runs?' */
export function didYouMean(word: string, known: readonly string[], prefix = ''): string {
  const name = nearest(word, known);
  return name === undefined ? '' : ` Did you mean ${prefix}${name}?`;
}

/** The same within a sentence. */
export function meant(word: string, known: readonly string[]): string {
  const name = nearest(word, known);
  return name === undefined ? '' : ` (did you mean "${name}"?)`;
}

/**
 * The unknown given name that was probably meant for a missing one.
 * @example mistyped('amount', ['amonut'], ['amount']) // ' ("amonut" is unknown: did you mean "amount"?)'
 */
export function mistyped(missing: string, given: readonly string[], known: readonly string[]): string {
  const names = new Set(known);
  const unknown = given.filter((name) => name.length <= NAME_MAX && !names.has(name));
  const name = nearest(missing, unknown);
  return name === undefined ? '' : ` ("${name}" is unknown: did you mean "${missing}"?)`;
}
