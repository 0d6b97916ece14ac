import Type, { type Static } from 'typebox';
import { optional } from './schema.ts';

/** The isolation between pack code and the machine of the host. */
export const SandboxHealth = Type.Object({
  /** `none`: packs from archives are refused. */
  isolation: Type.Union([
    Type.Literal('bwrap'),
    Type.Literal('unshare'),
    Type.Literal('permission-only'),
    Type.Literal('none'),
  ]),
  /** Whether system calls of packs are filtered. */
  filtered: Type.Boolean(),
  /** The version for Python packs. */
  python: optional(Type.String()),
  /** Unavailable features, and what to do about them. */
  problems: Type.Array(Type.Object({ problem: Type.String(), next: optional(Type.String()) })),
});
export type SandboxHealth = Static<typeof SandboxHealth>;
