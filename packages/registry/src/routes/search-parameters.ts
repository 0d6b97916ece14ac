import { PACK_KINDS, type PackKind } from '@gantry/packs';
import Type from 'typebox';

const KINDS = Object.keys(PACK_KINDS) as PackKind[];

export const QUERY_CHARS_MAX = 200;

export const SearchParameters = {
  q: Type.Optional(Type.String({ maxLength: QUERY_CHARS_MAX })),
  kind: Type.Optional(Type.Enum(KINDS)),
  cursor: Type.Optional(Type.String({ maxLength: 1024 })),
} as const;
