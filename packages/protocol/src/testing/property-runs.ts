const ROUNDS = process.env.GANTRY_SOAK_ROUNDS;
const SHORT_SHARE = 0.25;

/**
 * How many inputs a property is checked with: of `long`, a quarter. They are other inputs each time; as many as `long`,
 * times its rounds, takes `npm run soak -- properties [ROUNDS]`.
 */
export const propertyRuns = (long: number): number =>
  ROUNDS === undefined ? Math.ceil(long * SHORT_SHARE) : long * Number(ROUNDS);
