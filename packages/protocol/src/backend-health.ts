import Type, { type Static } from 'typebox';
import { optional } from './schema.ts';

const About = {
  /** `queueBus` */
  capability: Type.String(),
  /** For `sql`: the id by which packs name the data source. Several tenants may use the same id. */
  datasource: optional(Type.String()),
  /** `embedded`, `postgres`, `s3`, … */
  backend: Type.String(),
};

/** The storage of a host capability, and whether it is usable now. */
export const BackendHealth = Type.Union([
  Type.Object({
    ...About,
    state: Type.Literal('up'),
    /** A problem that the operator should correct, though the backend is usable. */
    warning: optional(Type.String()),
  }),
  Type.Object({
    ...About,
    /** `unreachable`: used again once it answers. `rejected`: the operator must correct the named problem. */
    state: Type.Union([Type.Literal('unreachable'), Type.Literal('rejected')]),
    problem: Type.String(),
  }),
]);
export type BackendHealth = Static<typeof BackendHealth>;
