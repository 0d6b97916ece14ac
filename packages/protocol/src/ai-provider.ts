import Type, { type Static } from 'typebox';
import { closedObject, optional } from './schema.ts';

/** A provider of models that the caller may name, and whether it can be asked now. */
export const AiProvider = closedObject({
  id: Type.String(),
  /** `no-key`: add a credential. `unreachable`: an endpoint of the operator that did not answer just now. */
  state: Type.Enum(['ready', 'no-key', 'unreachable', 'disabled']),
  selfHosted: Type.Boolean(),
  /** The ref of the credential that would be used. */
  credential: optional(Type.String()),
  /** Those that are known; others may be served too. */
  models: Type.Array(Type.String()),
  defaultModel: optional(Type.String()),
  modalities: Type.Array(Type.String()),
  /** What it can be asked for: chat, embedding, image, ... */
  tasks: Type.Array(Type.String()),
  /** What to do where it is not ready. */
  next: optional(Type.String()),
});
export type AiProvider = Static<typeof AiProvider>;

export const AiProviders = closedObject({ providers: Type.Array(AiProvider) });
export type AiProviders = Static<typeof AiProviders>;
