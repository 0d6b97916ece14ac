/**
 * The audit record of uses of sensitive data, and of keys. Acts of a use are committed before it. They are never
 * changed, and only deleted by expiry.
 */
import Type, { type Static } from 'typebox';
import { closedObject, Time } from '../schema.ts';
import { wire } from '../wire.ts';

export const ActType = Type.Enum(['secret.resolved', 'credential.resolved']);
export type ActType = Static<typeof ActType>;

const shared = { actId: Type.String(), ts: Time };

export const SecretAct = Type.Object({
  ...shared,
  type: ActType,
  /** The credential with the version that was used: `stripe@2`. */
  ref: Type.String(),
  purpose: Type.String(),
  runId: Type.String(),
  nodeId: Type.String(),
  packName: Type.String(),
  packVersion: Type.String(),
});

/** `key.used` is written once for each key and day (UTC). */
export const KeyAct = Type.Object({
  ...shared,
  type: Type.Enum(['key.created', 'key.used', 'key.revoked']),
  keyId: Type.String(),
  principal: Type.String(),
  /** The principal that did it; `host` for the host itself. */
  by: Type.String(),
});

export const Act = Type.Union([SecretAct, KeyAct]);
export type Act = Static<typeof Act>;

export const actsWire = wire(
  { path: 'acts', id: 'actId' },
  {
    about: 'What was done with secrets and keys, newest first',
    scopes: { read: ['audit:read'], write: ['audit:read'] },
    input: closedObject({}),
    view: Act,
    own: ['create', 'remove'],
    methods: {},
  },
);
