/** Common schemas of the protocol documents. */
import Type, { type TProperties } from 'typebox';

/** An object that refuses other members. */
export const closedObject = <T extends TProperties>(members: T) =>
  Type.Object(members, { additionalProperties: false });

export const optional = Type.Optional;
export const Text = Type.String({ minLength: 1 });
/** With the maximum length of identifiers in the protocol. */
export const Id = Type.String({ minLength: 1, maxLength: 256 });
/** The part of a list to read. */
export const page = {
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
};
export const Texts = Type.Array(Type.String());
export const Time = Type.String({ format: 'date-time' });
export const INSTANT_PATTERN =
  '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?(Z|[+-]\\d{2}:\\d{2})$';
export const Count = Type.Integer({ minimum: 0 });
export const Positive = Type.Integer({ minimum: 1 });
export const Values = Type.Record(Type.String(), Type.Unknown());
