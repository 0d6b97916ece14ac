import Type, { type Static } from 'typebox';

/** What keeps the data of a host capability, and whether it can be used now. */
export const BackendHealth = Type.Object({
  /** `queueBus` */
  capability: Type.String(),
  /** `embedded`, `postgres`, `nats`, … */
  backend: Type.String(),
  /** Why it cannot be used for now; absent when it can. */
  problem: Type.Optional(Type.String()),
  /** What the operator should mend, though it can be used. */
  warning: Type.Optional(Type.String()),
});
export type BackendHealth = Static<typeof BackendHealth>;
