/** The five methods that every host with `fs` has. */
import Type from 'typebox';
import type { MethodLiteral } from '../../calls/define-surface.ts';
import { Bytes, Cursor, PAGES, PageLimit, Prefix, Timestamp } from '../../calls/schema.ts';

const optional = Type.Optional;
/** Judged by the port, which has one code for all that is no plain path. */
const Path = Type.String({ maxLength: 4_096 });
const ContentType = optional(Type.String());

export const FILE_METHODS = {
  read: {
    effect: 'read',
    summary: 'The content of a file.',
    input: Type.Object({ path: Path }),
    output: Type.Object({ bytes: Bytes, contentType: ContentType }),
  },
  write: {
    effect: 'write',
    summary:
      'Writes a file as a whole and makes the folders on the way. `mode` is `overwrite` unless it is `create-only`, ' +
      'which refuses to replace, or `append`.',
    input: Type.Object({
      path: Path,
      bytes: Bytes,
      contentType: ContentType,
      mode: optional(
        Type.Union([Type.Literal('overwrite'), Type.Literal('create-only'), Type.Literal('append')]),
      ),
    }),
    output: Type.Object({ path: Type.String(), sizeBytes: Type.Integer() }),
  },
  delete: {
    effect: 'write',
    summary: 'Deletes a file, and the folders that it leaves empty.',
    input: Type.Object({ path: Path }),
    output: Type.Object({ deleted: Type.Boolean() }),
  },
  stat: {
    effect: 'read',
    summary: 'Size and time of a file.',
    input: Type.Object({ path: Path }),
    output: Type.Object({
      sizeBytes: Type.Integer(),
      modifiedAt: Timestamp,
      contentType: ContentType,
      isDirectory: Type.Boolean(),
    }),
  },
  list: {
    effect: 'read',
    summary:
      'Files in the byte order of their paths, page by page: all whose path begins with `prefix`. Without ' +
      '`recursive` (true), what lies directly behind the prefix, with folders; without `includeHidden` (true), no ' +
      `names that begin with a dot. ${PAGES}`,
    input: Type.Object({
      prefix: optional(Prefix),
      cursor: optional(Cursor),
      limit: optional(PageLimit),
      recursive: optional(Type.Boolean()),
      includeHidden: optional(Type.Boolean()),
    }),
    output: Type.Object({
      entries: Type.Array(
        Type.Object({
          path: Type.String(),
          sizeBytes: Type.Integer(),
          isDirectory: optional(Type.Boolean()),
        }),
      ),
      nextCursor: optional(Type.String()),
    }),
  },
} as const satisfies Record<string, MethodLiteral>;
