const { GANTRY_TEST_FORM, GANTRY_SOAK_ROUNDS } = process.env;

/**
 * Whether tests that have a short form run their full one: in `npm run verify` after all others (`npm test -- --full`),
 * and in soaks.
 */
export const isFullForm = GANTRY_TEST_FORM === 'full' || GANTRY_SOAK_ROUNDS !== undefined;

/** Of a corpus: all of it in the full form, else every nth case, from the first on. */
export const shareOf = <T>(cases: readonly T[], every: number): readonly T[] =>
  isFullForm ? cases : cases.filter((_, index) => index % every === 0);
