import Type, { type Static } from 'typebox';
import { optional } from './schema.ts';

const About = {
  /** `queueBus` */
  capability: Type.String(),
  /** Of `sql`: the id that packs name the data source by. Several tenants may have one of the same id. */
  datasource: optional(Type.String()),
  /** `embedded`, `postgres`, `s3`, … */
  backend: Type.String(),
};

/** What keeps the data of a host capability, and whether it can be used now. */
export const BackendHealth = Type.Union([
  Type.Object({
    ...About,
    state: Type.Literal('up'),
    /** What the operator should correct, though it can be used. */
    warning: optional(Type.String()),
  }),
  Type.Object({
    ...About,
    /** `unreachable`: used again once it answers. `rejected`: the operator has to correct what is named. */
    state: Type.Union([Type.Literal('unreachable'), Type.Literal('rejected')]),
    problem: Type.String(),
  }),
]);
export type BackendHealth = Static<typeof BackendHealth>;
