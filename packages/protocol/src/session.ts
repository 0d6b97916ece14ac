/** Sessions of browsers: signing in, and who is asking. Extensions of this host. */
import Type, { type Static } from 'typebox';
import { closedObject, optional, Texts } from './schema.ts';

const Credential = Type.String({ minLength: 1, maxLength: 512 });

/** `POST /v1/host/gantry/session`: with a key, or with the code of a one-time link. */
export const SignInRequest = Type.Union([
  closedObject({ key: Credential }),
  closedObject({ code: Credential }),
]);
export type SignInRequest = Static<typeof SignInRequest>;

/** Who is asking: the key that a request was sent with, or that its session stands for. */
export const WhoAmI = Type.Object({
  keyId: Type.String(),
  name: Type.String(),
  tenant: Type.String(),
  workspace: Type.String(),
  principal: Type.String(),
  scopes: Texts,
  via: Type.Union([Type.Literal('key'), Type.Literal('session')]),
  /** When the key or the session ends. */
  expiresAt: optional(Type.String()),
  /** The clock of the host. */
  now: Type.String(),
});
export type WhoAmI = Static<typeof WhoAmI>;

/** The page that opens after signing in: a path of the same host. */
export const SignInLinkRequest = closedObject({
  to: optional(Type.String({ pattern: '^/([^/\\\\]|$)', maxLength: 2_048 })),
});
export type SignInLinkRequest = Static<typeof SignInLinkRequest>;

/** The code is in the fragment of the address, which browsers send to nobody. */
export const SignInLink = Type.Object({ code: Type.String(), url: Type.String(), expiresAt: Type.String() });
export type SignInLink = Static<typeof SignInLink>;
