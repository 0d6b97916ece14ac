/** `ctx.fs.image`, `ctx.fs.pdf` and `ctx.fs.archive`: a separate process does the work. */
import Type from 'typebox';
import { contentRoom } from '../../calls/content-room.ts';
import { type Implementation, reads } from '../../calls/define-surface.ts';
import { Bytes, listOf, optional, Text, Whole, whole } from '../../calls/schema.ts';
import type { ReadCall } from '../../calls/surface-call.ts';
import { ENTRIES_MAX, RATIO_MAX, unpackedBytesMax } from './archive/limits.ts';
import { type EntryNames, plainEntries } from './archive/names.ts';
import type { Converter } from './convert/converter.ts';
import { type ArchiveFormat, type ImageTask, SIDE_MAX } from './convert/task.ts';

const Side = whole(1, SIDE_MAX);
const Offset = whole(0, 100_000);
const Fit = Type.Enum(['contain', 'cover', 'fill', 'inside', 'outside']);
const ImageFormat = Type.Enum(['jpeg', 'png', 'webp', 'avif']);
const Image = { bytes: Bytes, contentType: Text, width: Whole, height: Whole };
const image = { needs: 'image' } as const;

const PARTS_MAX = 100;
const PDF = 'application/pdf';
const pdf = { needs: 'pdf' } as const;

const ArchiveFormats = Type.Enum(['zip', 'tar', 'tar-gz']);
/** Names are checked together: a duplicate is not valid either. */
const Entries = listOf({ path: Type.String({ maxLength: 4_096 }), bytes: Bytes }, ENTRIES_MAX);
const archive = { needs: 'archive' } as const;

export const CONVERSIONS = {
  'image.resize': reads(
    'Changes the size. One side follows the other; with both, `fit` says how (`inside`).',
    { bytes: Bytes, width: optional(Side), height: optional(Side), fit: optional(Fit) },
    Image,
    image,
  ),
  'image.crop': reads(
    'Cuts a rectangle out.',
    { bytes: Bytes, x: Offset, y: Offset, width: Side, height: Side },
    Image,
    image,
  ),
  'image.formatConvert': reads(
    'Writes the image in another format, with `quality` from 1 to 100 where the format has that.',
    { bytes: Bytes, to: ImageFormat, quality: optional(whole(1, 100)) },
    Image,
    image,
  ),
  'pdf.extractText': reads('The text, page by page.', { bytes: Bytes }, { text: Text, pages: Whole }, pdf),
  'pdf.split': reads(
    'One file for each of `ranges`, which are written `3`, `2-5`, `7-` or `-2`.',
    {
      bytes: Bytes,
      ranges: Type.Array(Type.String({ maxLength: 20 }), { minItems: 1, maxItems: PARTS_MAX }),
    },
    { parts: listOf({ bytes: Bytes, contentType: Text, range: Text, pages: Whole }) },
    pdf,
  ),
  'pdf.merge': reads(
    'One file with the pages of all parts, in their order.',
    { parts: Type.Array(Bytes, { minItems: 1, maxItems: PARTS_MAX }) },
    { bytes: Bytes, contentType: Text, pages: Whole },
    pdf,
  ),
  'archive.create': reads(
    'An archive of the entries, in their order. It is an answer and no file. The same entries give the same bytes.',
    { format: ArchiveFormats, entries: Entries },
    { bytes: Bytes, contentType: Text },
    archive,
  ),
  'archive.extract': reads(
    'The files in an archive: all of them, or a refusal that names the entry. Nothing is written. Paths can be used ' +
      'for `write` as they are; links, special files and a path that comes twice are refused, and so is an archive ' +
      `with more than ${ENTRIES_MAX} entries, or with more in it than \`maxFileSizeBytes\` or ${RATIO_MAX} times its size.`,
    { format: ArchiveFormats, bytes: Bytes },
    { entries: Entries },
    archive,
  ),
};

const ARCHIVE_TYPES: Readonly<Record<ArchiveFormat, string>> = {
  zip: 'application/zip',
  tar: 'application/x-tar',
  'tar-gz': 'application/gzip',
};

type ImageFacts = { readonly contentType: string; readonly width: number; readonly height: number };
type Methods = Implementation<{ journal: 'own'; methods: typeof CONVERSIONS }>;

export function implementConversions({ run }: Converter): Methods {
  const convert = async (bytes: Uint8Array, task: ImageTask, call: ReadCall) => {
    const { value, parts } = await run({ kind: 'image', ...task }, [bytes], call);
    return { ...(value as ImageFacts), bytes: parts[0] ?? new Uint8Array() };
  };
  return {
    'image.resize': ({ bytes, fit = 'inside', ...sides }, call) =>
      convert(bytes, { op: 'resize', fit, ...sides }, call),
    'image.crop': ({ bytes, ...part }, call) => convert(bytes, { op: 'crop', ...part }, call),
    'image.formatConvert': ({ bytes, ...asked }, call) => convert(bytes, { op: 'convert', ...asked }, call),
    async 'pdf.extractText'({ bytes }, call) {
      const { value } = await run({ kind: 'pdf', op: 'text' }, [bytes], call);
      return value as { text: string; pages: number };
    },
    async 'pdf.split'({ bytes, ranges }, call) {
      const { value, parts } = await run({ kind: 'pdf', op: 'split', ranges }, [bytes], call);
      const facts = value as readonly { range: string; pages: number }[];
      return { parts: parts.map((part, index) => ({ bytes: part, contentType: PDF, ...facts[index]! })) };
    },
    async 'pdf.merge'({ parts }, call) {
      const { value, parts: made } = await run({ kind: 'pdf', op: 'merge' }, parts, call);
      const { pages } = value as { pages: number };
      return { bytes: made[0] ?? new Uint8Array(), contentType: PDF, pages };
    },
    async 'archive.create'({ format, entries }, call) {
      const paths = await plainEntries({ files: entries.map(({ path }) => path), folders: [] });
      const contents = entries.map(({ bytes }) => bytes);
      await contentRoom.for(call)(contents.reduce((sum, { byteLength }) => sum + byteLength, 0));
      const { parts } = await run({ kind: 'archive', op: 'create', format, paths }, contents, call);
      return { bytes: parts[0] ?? new Uint8Array(), contentType: ARCHIVE_TYPES[format] };
    },
    async 'archive.extract'({ format, bytes }, call) {
      await contentRoom.for(call)(unpackedBytesMax(bytes.byteLength));
      const { value, parts } = await run({ kind: 'archive', op: 'extract', format }, [bytes], call);
      const paths = await plainEntries(value as EntryNames);
      return { entries: parts.map((part, index) => ({ path: paths[index]!, bytes: part })) };
    },
  };
}
