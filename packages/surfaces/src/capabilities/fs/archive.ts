/** `ctx.fs.archive`: the work is done by a process of its own. */
import Type, { type Static } from 'typebox';
import { contentRoom } from '../../calls/content-room.ts';
import type { MethodLiteral } from '../../calls/define-surface.ts';
import { Bytes } from '../../calls/schema.ts';
import type { ReadCall } from '../../calls/surface-call.ts';
import { ENTRIES_MAX, RATIO_MAX, unpackedBytesMax } from './archive/limits.ts';
import { type EntryNames, plainEntries } from './archive/names.ts';
import type { Converter } from './convert/converter.ts';
import type { ArchiveFormat, ArchiveTask } from './convert/task.ts';

const Format = Type.Enum(['zip', 'tar', 'tar-gz']);
/** Judged with the others: a name that comes twice is no name either. */
const Entry = Type.Object({ path: Type.String({ maxLength: 4_096 }), bytes: Bytes });
const Entries = Type.Array(Entry, { maxItems: ENTRIES_MAX });
const archive = { effect: 'read', needs: 'archive' } as const;

export const ARCHIVE_METHODS = {
  'archive.create': {
    ...archive,
    summary:
      'An archive of the entries, in their order. It is an answer and no file. The same entries give the same bytes.',
    input: Type.Object({ format: Format, entries: Entries }),
    output: Type.Object({ bytes: Bytes, contentType: Type.String() }),
  },
  'archive.extract': {
    ...archive,
    summary:
      'The files in an archive: all of them, or a refusal that names the entry. Nothing is written. Paths can be used ' +
      'for `write` as they are; links, special files and a path that comes twice are refused, and so is an archive ' +
      `with more than ${ENTRIES_MAX} entries, or with more in it than \`maxFileSizeBytes\` or ${RATIO_MAX} times its size.`,
    input: Type.Object({ format: Format, bytes: Bytes }),
    output: Type.Object({ entries: Entries }),
  },
} as const satisfies Record<string, MethodLiteral>;

const TYPES: Readonly<Record<ArchiveFormat, string>> = {
  zip: 'application/zip',
  tar: 'application/x-tar',
  'tar-gz': 'application/gzip',
};

export function implementArchives(converter: Converter) {
  const convert = (parts: readonly Uint8Array[], task: ArchiveTask, call: ReadCall) =>
    converter.run({ kind: 'archive', ...task }, parts, call);
  type Input<Name extends keyof typeof ARCHIVE_METHODS> = Static<(typeof ARCHIVE_METHODS)[Name]['input']>;
  return {
    async 'archive.create'({ format, entries }: Input<'archive.create'>, call: ReadCall) {
      const paths = await plainEntries({ files: entries.map(({ path }) => path), folders: [] });
      const contents = entries.map(({ bytes }) => bytes);
      await contentRoom.for(call)(contents.reduce((sum, { byteLength }) => sum + byteLength, 0));
      const { parts } = await convert(contents, { op: 'create', format, paths }, call);
      return { bytes: parts[0] ?? new Uint8Array(), contentType: TYPES[format] };
    },
    async 'archive.extract'({ format, bytes }: Input<'archive.extract'>, call: ReadCall) {
      await contentRoom.for(call)(unpackedBytesMax(bytes.byteLength));
      const { value, parts } = await convert([bytes], { op: 'extract', format }, call);
      const paths = await plainEntries(value as EntryNames);
      return { entries: parts.map((part, index) => ({ path: paths[index]!, bytes: part })) };
    },
  };
}
