/** `ctx.fs`: files of the workspace, and what can be done with images, PDF files and archives. */

import { contentRoom } from '../../calls/content-room.ts';
import { pageByKey } from '../../calls/cursor.ts';
import { defineSurface, type ImplementedSurface, namesOf } from '../../calls/define-surface.ts';
import { type Over, opening, type PortLiteral } from '../../open-port.ts';
import type { FileEntry, FilesPort } from '../../ports/files.ts';
import { FILE_BYTES_MAX, SANDBOX_ROOT } from '../../ports/files.ts';
import { contentTypeOf } from '../blob/names.ts';
import { ARCHIVE_METHODS, implementArchives } from './archive.ts';
import { type Converter, openConverter } from './convert/converter.ts';
import { FILE_METHODS } from './file-methods.ts';
import { openFiles } from './files/open-files.ts';
import { IMAGE_METHODS, implementImages } from './image.ts';
import { implementPdf, PDF_METHODS } from './pdf.ts';
import { FS } from './spellings.ts';

/** For each tenant. */
const QUOTA_BYTES = 1_073_741_824;

const filesPort: PortLiteral<FilesPort> = {
  embedded: ({ embedded: database, dataDir, now }) =>
    openFiles({ database, dataDir, quotaBytes: QUOTA_BYTES, now }),
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
  methods: { ...FILE_METHODS, ...IMAGE_METHODS, ...PDF_METHODS, ...ARCHIVE_METHODS },
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
      ...implementImages(converter),
      ...implementPdf(converter),
      ...implementArchives(converter),
    },
    { lacks: converter.lacks, advertises: { sandboxRoot: SANDBOX_ROOT } },
  );
}

const entryOf = ({ path, sizeBytes, isDirectory }: FileEntry) =>
  isDirectory ? { path: path.slice(0, -1), sizeBytes, isDirectory } : { path, sizeBytes };
