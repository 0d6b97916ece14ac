import Type, { type Static } from 'typebox';

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
  python: Type.Optional(Type.String()),
  /** What is not available, and what to do about it. */
  problems: Type.Array(Type.Object({ problem: Type.String(), next: Type.Optional(Type.String()) })),
});
export type SandboxHealth = Static<typeof SandboxHealth>;
