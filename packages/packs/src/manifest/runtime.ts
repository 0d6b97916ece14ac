import Type, { type Static } from 'typebox';
import { strict } from './fields.ts';

/**
 * The closed vocabulary of `runtime.requires`. A token that came into the protocol later is refused: a host
 * must not grant what it does not know.
 */
export const RUNTIME_REQUIREMENTS = [
  'net.dns',
  'net.outbound',
  'crypto',
  'subprocess',
  'fs.read',
  'fs.write',
  'env.read',
  'clock',
] as const;
export const RuntimeRequirement = Type.Enum([...RUNTIME_REQUIREMENTS]);
export type RuntimeRequirement = (typeof RUNTIME_REQUIREMENTS)[number];

const RUNTIME_LANGUAGES = ['javascript', 'python', 'go', 'wasm', 'wasm-component', 'remote'] as const;
export type RuntimeLanguage = (typeof RUNTIME_LANGUAGES)[number];

const Pages = Type.Integer({ minimum: 0, maximum: 65_536 });

export const Runtime = strict({
  language: Type.Enum([...RUNTIME_LANGUAGES]),
  entry: Type.String({ minLength: 1, maxLength: 2048 }),
  format: Type.Optional(
    Type.Enum(['esm', 'cjs', 'wheel', 'binary', 'shared-library', 'wasm', 'wasm-component']),
  ),
  minRuntimeVersion: Type.Optional(Type.String({ maxLength: 64 })),
  requires: Type.Optional(Type.Array(RuntimeRequirement, { uniqueItems: true, maxItems: 8 })),
  wasm: Type.Optional(
    strict({
      abiVersion: Type.Integer({ minimum: 1 }),
      memoryPagesInitial: Type.Optional(Pages),
      memoryPagesMax: Type.Optional(Pages),
    }),
  ),
});
export type Runtime = Static<typeof Runtime>;

/** A grant covers itself and what a later vocabulary splits from it; a finer grant never covers its parent. */
export const covers = (grant: string, requirement: string): boolean =>
  requirement === grant || requirement.startsWith(`${grant}.`);
