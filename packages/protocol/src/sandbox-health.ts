import Type, { type Static } from 'typebox';
import { optional } from './schema.ts';

/** What stands between the code of packs and the machine of the host. */
export const SandboxHealth = Type.Object({
  /** `none`: packs from archives are refused. */
  isolation: Type.Union([
    Type.Literal('bwrap'),
    Type.Literal('unshare'),
    Type.Literal('permission-only'),
    Type.Literal('none'),
  ]),
  /** Whether their system calls are filtered. */
  filtered: Type.Boolean(),
  /** The version that Python packs get. */
  python: optional(Type.String()),
  /** What is not available, and what to do about it. */
  problems: Type.Array(Type.Object({ problem: Type.String(), next: optional(Type.String()) })),
});
export type SandboxHealth = Static<typeof SandboxHealth>;
