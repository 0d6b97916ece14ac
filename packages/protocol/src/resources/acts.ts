/**
 * The audit record of uses of sensitive data. Acts are committed before the use. They are never changed, and only
 * deleted by expiry.
 */
import Type, { type Static } from 'typebox';
import { closedObject, Time } from '../schema.ts';
import { wire } from '../wire.ts';

export const ActType = Type.Enum(['secret.resolved', 'credential.resolved']);
export type ActType = Static<typeof ActType>;

export const Act = Type.Object({
  actId: Type.String(),
  type: ActType,
  /** The credential with the version that was used: `stripe@2`. */
  ref: Type.String(),
  purpose: Type.String(),
  runId: Type.String(),
  nodeId: Type.String(),
  packName: Type.String(),
  packVersion: Type.String(),
  ts: Time,
});
export type Act = Static<typeof Act>;

export const actsWire = wire(
  { path: 'acts', id: 'actId' },
  {
    about: 'What was done with secrets, newest first',
    scopes: { read: ['audit:read'], write: ['audit:read'] },
    input: closedObject({}),
    view: Act,
    own: ['create', 'remove'],
    methods: {},
  },
);
