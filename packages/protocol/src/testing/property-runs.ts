import { isFullForm } from './full-form.ts';

const ROUNDS = Number(process.env.GANTRY_SOAK_ROUNDS ?? 1);
const SHORT_SHARE = 0.25;

/**
 * How many inputs a property is checked with: of `long`, a quarter, and all in the full form. They are other inputs each
 * time; as many as `long`, times its rounds, takes `npm run soak -- properties [ROUNDS]`.
 */
export const propertyRuns = (long: number): number =>
  isFullForm ? long * ROUNDS : Math.ceil(long * SHORT_SHARE);
