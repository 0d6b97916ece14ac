/** Edit distance where swapping two neighbours counts once: the usual slips of the hand. */
export function distance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= from.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1] ? 0 : 1;
      let best = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + same);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        best = Math.min(best, at(i - 2, j - 2) + 1);
      }
      rows[i]?.push(best);
    }
  }
  return at(from.length, to.length);
}

/** Longer names from outside are not repeated. */
export const NAME_MAX = 64;

/** The known word that was probably meant, if any is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
  const ranked = known
    .map((name) => ({ name, far: word.length >= 3 && name.startsWith(word) ? 0.5 : distance(word, name) }))
    .filter(({ far }) => far <= limit)
    .sort((a, b) => a.far - b.far);
  return ranked[0]?.name;
}

/** @example didYouMean('rnus', ['run', 'runs']) // ' Did you mean runs?' */
export function didYouMean(word: string, known: readonly string[], prefix = ''): string {
  const name = nearest(word, known);
  return name === undefined ? '' : ` Did you mean ${prefix}${name}?`;
}

/** The same inside of a sentence. */
export function meant(word: string, known: readonly string[]): string {
  const name = nearest(word, known);
  return name === undefined ? '' : ` (did you mean "${name}"?)`;
}

/**
 * Which of the given names that nobody knows was probably meant for one that is missing.
 * @example mistyped('amount', ['amonut'], ['amount']) // ' ("amonut" is unknown: did you mean "amount"?)'
 */
export function mistyped(missing: string, given: readonly string[], known: readonly string[]): string {
  const unknown = given.filter((name) => name.length <= NAME_MAX && !known.includes(name));
  const name = nearest(missing, unknown);
  return name === undefined ? '' : ` ("${name}" is unknown: did you mean "${missing}"?)`;
}
