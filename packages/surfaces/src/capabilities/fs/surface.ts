/** `ctx.fs`: files of the workspace, and what can be done with images, PDF files and archives. */

import Type from 'typebox';
import { contentRoom } from '../../calls/content-room.ts';
import { pageByKey } from '../../calls/cursor.ts';
import {
  defineSurface,
  type ImplementedSurface,
  namesOf,
  reads,
  writes,
} from '../../calls/define-surface.ts';
import { Bytes, Cursor, PAGES, PageLimit, Prefix, Timestamp } from '../../calls/schema.ts';
import { type Over, opening, type PortLiteral } from '../../open-port.ts';
import type { FileEntry, FilesPort } from '../../ports/files.ts';
import { FILE_BYTES_MAX, SANDBOX_ROOT } from '../../ports/files.ts';
import { quotaOf } from '../../quotas.ts';
import { contentTypeOf } from '../blob/names.ts';
import { CONVERSIONS, implementConversions } from './conversions.ts';
import { type Converter, openConverter } from './convert/converter.ts';
import { openFiles } from './files/open-files.ts';
import { FS } from './spellings.ts';

const optional = Type.Optional;
/** Judged by the port, which has one code for all that is no plain path. */
const Path = Type.String({ maxLength: 4_096 });
const ContentType = optional(Type.String());
const Listed = Type.Object({
  path: Type.String(),
  sizeBytes: Type.Integer(),
  isDirectory: optional(Type.Boolean()),
});

/** For each tenant. */
const QUOTA_BYTES = 1_073_741_824;

const filesPort: PortLiteral<FilesPort> = {
  embedded: ({ embedded: database, dataDir, now, quotas }) =>
    openFiles({ database, dataDir, quotaBytes: quotaOf(quotas, 'files', QUOTA_BYTES), now }),
  folder: 'files',
};

export const fsSurface = defineSurface({
  ...namesOf('fs'),
  spellings: FS,
  summary:
    'Files in a folder of the workspace. Paths are relative to it, or begin with `sandboxRoot`; no path and no link ' +
    'leads out of it. Bytes are a `Uint8Array`.',
  journal: 'own',
  opens: opening(filesPort, (given) => implementFs({ ...given, converter: openConverter() })),
  limits: { maxFileSizeBytes: FILE_BYTES_MAX },
  exceeded: { maxFileSizeBytes: 'file_too_large' },
  options: {
    image: {
      summary: 'Images made smaller, cut and converted.',
      advertises: { image: { supported: true, formats: ['jpeg', 'png', 'webp', 'avif'] } },
    },
    pdf: { summary: 'Text and pages of PDF files.', advertises: { pdf: { supported: true } } },
    archive: { summary: 'Archives made and read. Discovery has no member for it.', advertises: {} },
  },
  errors: [
    'path_outside_sandbox',
    'file_too_large',
    'fs_permission_denied',
    'file_not_found',
    'fs_quota_exhausted',
  ],
  methods: {
    read: reads('The content of a file.', { path: Path }, { bytes: Bytes, contentType: ContentType }),
    write: writes(
      'Writes a file as a whole and makes the folders on the way. `mode` is `overwrite` unless it is `create-only`, ' +
        'which refuses to replace, or `append`.',
      {
        path: Path,
        bytes: Bytes,
        contentType: ContentType,
        mode: optional(Type.Enum(['overwrite', 'create-only', 'append'])),
      },
      { path: Type.String(), sizeBytes: Type.Integer() },
    ),
    delete: writes(
      'Deletes a file, and the folders that it leaves empty.',
      { path: Path },
      { deleted: Type.Boolean() },
    ),
    stat: reads(
      'Size and time of a file.',
      { path: Path },
      {
        sizeBytes: Type.Integer(),
        modifiedAt: Timestamp,
        contentType: ContentType,
        isDirectory: Type.Boolean(),
      },
    ),
    list: reads(
      'Files in the byte order of their paths, page by page: all whose path begins with `prefix`. Without ' +
        '`recursive` (true), what lies directly behind the prefix, with folders; without `includeHidden` (true), no ' +
        `names that begin with a dot. ${PAGES}`,
      {
        prefix: optional(Prefix),
        cursor: optional(Cursor),
        limit: optional(PageLimit),
        recursive: optional(Type.Boolean()),
        includeHidden: optional(Type.Boolean()),
      },
      { entries: Type.Array(Listed), nextCursor: optional(Type.String()) },
    ),
    ...CONVERSIONS,
  },
});

export function implementFs({
  port,
  cursors,
  converter,
}: Over<FilesPort> & { readonly converter: Converter }): ImplementedSurface {
  return fsSurface.implement(
    {
      async read({ path }, { workspace, ...call }) {
        const { bytes, contentType } = await port.read({ workspace, path }, call, contentRoom.for(call));
        return { bytes, ...(contentType !== null && { contentType }) };
      },
      async write({ path, bytes, contentType, mode = 'overwrite' }, { workspace, ...call }) {
        fsSurface.check('maxFileSizeBytes', bytes.byteLength);
        return port.write({ workspace, path, bytes, contentType: contentTypeOf(contentType), mode }, call);
      },
      delete: ({ path }, { workspace, ...call }) => port.delete({ workspace, path }, call),
      async stat({ path }, { workspace, ...call }) {
        const { modifiedAt, contentType, ...facts } = await port.stat({ workspace, path }, call);
        return {
          ...facts,
          modifiedAt: new Date(modifiedAt).toISOString(),
          ...(contentType !== null && { contentType }),
        };
      },
      async list({ prefix = '', recursive = true, includeHidden: hidden = true, ...asked }, call) {
        const { workspace, tenant } = call;
        const { page, ...next } = await pageByKey(cursors, asked, {
          scope: [tenant, 'fs.list', workspace, prefix, `${recursive}`, `${hidden}`],
          list: (range) => port.list({ workspace, prefix, recursive, hidden, ...range }, call),
          keyOf: ({ path }) => path,
        });
        return { entries: page.map(entryOf), ...next };
      },
      ...implementConversions(converter),
    },
    { lacks: converter.lacks, advertises: { sandboxRoot: SANDBOX_ROOT } },
  );
}

const entryOf = ({ path, sizeBytes, isDirectory }: FileEntry) =>
  isDirectory ? { path: path.slice(0, -1), sizeBytes, isDirectory } : { path, sizeBytes };
