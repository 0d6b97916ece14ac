/** `ctx.fs`: files of the workspace, and operations on images, PDF files and archives. */
import { isoTime, workspaceKey } from '@gantry/protocol';
import Type from 'typebox';
import { contentRoom } from '../../calls/content-room.ts';
import { pageByKey } from '../../calls/cursor.ts';
import { defineSurface, type ImplementedSurface, reads, writes } from '../../calls/define-surface.ts';
import * as s from '../../calls/schema.ts';
import type { ReadCall } from '../../calls/surface-call.ts';
import { type Over, opening, type PortLiteral } from '../../open-port.ts';
import { FILE_BYTES_MAX, type FileEntry, type FilesPort, SANDBOX_ROOT } from '../../ports/files.ts';
import { quotaOf } from '../../quotas.ts';
import { contentTypeOf } from '../blob/names.ts';
import { CONVERSIONS, implementConversions } from './conversions.ts';
import { type Converter, openConverter } from './convert/converter.ts';
import { openFiles } from './files/open-files.ts';
import { FS } from './spellings.ts';

const { optional } = s;
/** Checked by the port, which has one code for all invalid paths. */
const At = { path: Type.String({ maxLength: 4_096 }) };
const ContentType = optional(s.Text);

/** Per tenant. */
const QUOTA_BYTES = 1_073_741_824;

const filesPort: PortLiteral<FilesPort> = {
  embedded: ({ embedded: database, dataDir, now, quotas }) =>
    openFiles({ database, dataDir, quotaBytes: quotaOf(quotas, 'files', QUOTA_BYTES), now }),
  folder: 'files',
};

export const fsSurface = defineSurface({
  capability: 'fs',
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
    read: reads('The content of a file.', At, { bytes: s.Bytes, contentType: ContentType }),
    write: writes(
      'Writes a file as a whole and makes the folders on the way. `mode` is `overwrite` unless it is `create-only`, ' +
        'which refuses to replace, or `append`.',
      {
        ...At,
        bytes: s.Bytes,
        contentType: ContentType,
        mode: optional(Type.Enum(['overwrite', 'create-only', 'append'])),
      },
      { path: s.Text, sizeBytes: s.Whole },
    ),
    delete: writes('Deletes a file, and the folders that it leaves empty.', At, { deleted: s.Flag }),
    stat: reads('Size and time of a file.', At, {
      sizeBytes: s.Whole,
      modifiedAt: s.Timestamp,
      contentType: ContentType,
      isDirectory: s.Flag,
    }),
    list: reads(
      'Files in the byte order of their paths, page by page: all whose path begins with `prefix`. Without ' +
        '`recursive` (true), what lies directly behind the prefix, with folders; without `includeHidden` (true), no ' +
        `names that begin with a dot. ${s.PAGES}`,
      {
        prefix: optional(s.Prefix),
        ...s.Paging,
        recursive: optional(s.Flag),
        includeHidden: optional(s.Flag),
      },
      {
        entries: s.listOf({ path: s.Text, sizeBytes: s.Whole, isDirectory: optional(s.Flag) }),
        ...s.Following,
      },
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
      async read({ path }, call) {
        const { bytes, contentType } = await port.read(fileOf(call, path), call, contentRoom.for(call));
        return { bytes, ...(contentType !== null && { contentType }) };
      },
      async write({ path, bytes, contentType, mode = 'overwrite' }, call) {
        fsSurface.check('maxFileSizeBytes', bytes.byteLength);
        const content = { bytes, contentType: contentTypeOf(contentType), mode };
        return port.write({ ...fileOf(call, path), ...content }, call);
      },
      delete: ({ path }, call) => port.delete(fileOf(call, path), call),
      async stat({ path }, call) {
        const { modifiedAt, contentType, ...facts } = await port.stat(fileOf(call, path), call);
        return { ...facts, modifiedAt: isoTime(modifiedAt), ...(contentType !== null && { contentType }) };
      },
      async list({ prefix = '', recursive = true, includeHidden: hidden = true, ...asked }, call) {
        const { workspace } = fileOf(call, prefix);
        const { page, ...next } = await pageByKey(cursors, asked, {
          scope: [call.tenant, 'fs.list', workspace, prefix, `${recursive}`, `${hidden}`],
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

const fileOf = ({ owner }: ReadCall, path: string) => ({ workspace: workspaceKey(owner.workspace), path });

const entryOf = ({ path, sizeBytes, isDirectory }: FileEntry) =>
  isDirectory ? { path: path.slice(0, -1), sizeBytes, isDirectory } : { path, sizeBytes };
