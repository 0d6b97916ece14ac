/** Spellings of `ctx.fs` in published packs: content is text, base64 unless `encoding` is `utf8`. */
import { invalid, OpenwopError } from '@gantry/protocol';
import { type Data, type DataObject, isObject } from '../../calls/data.ts';
import {
  also,
  decodeBase64,
  fill,
  fromBase64,
  isTooLongForText,
  member,
  type OwnSpelling,
  type Step,
  type StepFacts,
  sizeInBytes,
  TEXT_BYTES_MAX,
  textOf,
  unused,
} from '../../calls/spelling.ts';
import { FILE_BYTES_MAX } from '../../ports/files.ts';

const ENCODINGS: Readonly<Record<string, 'utf8' | 'base64'>> = {
  utf8: 'utf8',
  'utf-8': 'utf8',
  base64: 'base64',
};

function encodingOf(encoding: Data = 'base64'): 'utf8' | 'base64' {
  const known = typeof encoding === 'string' && Object.hasOwn(ENCODINGS, encoding) && ENCODINGS[encoding];
  if (known) return known;
  throw invalid(
    `The encoding ${JSON.stringify(encoding)} is not supported. Use ${Object.keys(ENCODINGS).join(', ')}, or give \`bytes\`.`,
  );
}

/** A call with an encoding needs the text; other calls can read `bytes`. */
function contentOf({ bytes }: DataObject, encoding: Data | undefined): string | undefined {
  if (!isTooLongForText(bytes) || encoding === undefined) return textOf(bytes, encodingOf(encoding));
  throw new OpenwopError('file_too_large', {
    message:
      `A file of more than ${TEXT_BYTES_MAX} bytes is not returned as text. Leave \`encoding\` out and read the ` +
      '`bytes` of the answer.',
    details: { maxTextBytes: TEXT_BYTES_MAX, maxFileSizeBytes: FILE_BYTES_MAX },
  });
}

const OR_PLAIN_TEXT = " Or say `encoding: 'utf8'` for plain text.";

const encoded = (text: string, encoding: 'utf8' | 'base64'): Uint8Array =>
  encoding === 'utf8' ? new Uint8Array(Buffer.from(text)) : decodeBase64(text, 'content', OR_PLAIN_TEXT);

/** Returns bytes only as text: with both, an answer could be too large to send. */
function inBase64(value: Data): Data {
  if (!isObject(value) || !(value.bytes instanceof Uint8Array)) return value;
  const { bytes, ...rest } = value;
  return { ...rest, contentBase64: Buffer.from(bytes as Uint8Array).toString('base64') };
}

const answerInBase64: Step = {
  says: '`bytes` → `contentBase64`',
  adapt: (value) => inBase64(value) as DataObject,
};

const partsInBase64: Step = {
  says: '`bytes` of each part → `contentBase64`',
  adapt: (value) => (Array.isArray(value.parts) ? { ...value, parts: value.parts.map(inBase64) } : value),
};

/** A path that names the root has an empty prefix. */
function folderOf(path: Data | undefined): Data | undefined {
  if (typeof path !== 'string') return path;
  return /^(\.?\/?)$/.test(path) && path !== '/' ? '' : path.replace(/\/*$/, '/');
}

const encoding: Step = {
  says: `\`encoding\` of the text: ${Object.keys(ENCODINGS).join(', ')}`,
  knows: ['encoding'],
  adapt: (value) => value,
};

const FILES: readonly OwnSpelling[] = [
  {
    call: 'read',
    takes: [encoding],
    gives: [
      member(
        'content',
        `\`bytes\` as \`encoding\` says, else base64, up to ${TEXT_BYTES_MAX} bytes; for more, read \`bytes\``,
        (value, { input }) => contentOf(value, input.encoding),
      ),
      sizeInBytes,
    ],
  },
  {
    call: 'write',
    when: 'content',
    takes: [
      encoding,
      member(
        'bytes',
        '`content` as `encoding` says, else base64',
        ({ content, encoding }) =>
          typeof content === 'string' ? encoded(content, encodingOf(encoding)) : undefined,
        ['content'],
      ),
    ],
    gives: [also({ bytes: 'sizeBytes' })],
  },
  {
    call: 'stat',
    gives: [
      member('exists', 'true; a missing file is `file_not_found`', () => true),
      also({ size: 'sizeBytes', mtime: 'modifiedAt' }),
    ],
  },
  {
    call: 'list',
    when: 'path',
    takes: [
      member('prefix', '`path` as a folder', ({ path }) => folderOf(path), ['path']),
      fill({ recursive: false, includeHidden: false }),
    ],
  },
];

const ofContent = unused('contentType', 'the content says itself what it is');

const content = fromBase64('contentBase64', 'bytes');

/** For calls that send their content as text. */
const inText = (call: string, gives: Step, takes: readonly Step[] = [content]): OwnSpelling => ({
  call,
  when: 'contentBase64',
  takes,
  gives: [gives],
});

const CONVERSIONS: readonly OwnSpelling[] = [
  ...['image.resize', 'image.crop', 'image.formatConvert'].map((call) =>
    inText(call, answerInBase64, [content, ofContent]),
  ),
  inText('pdf.extractText', answerInBase64),
  inText('pdf.split', partsInBase64),
  {
    call: 'pdf.merge',
    takes: [
      member('parts', 'each may be base64', ({ parts }) =>
        Array.isArray(parts)
          ? parts.map((part) => (typeof part === 'string' ? decodeBase64(part, 'parts') : part))
          : undefined,
      ),
    ],
    gives: [
      {
        says: '`bytes` → `contentBase64` for parts in base64',
        adapt: (value, { input }) =>
          Array.isArray(input.parts) && typeof input.parts[0] === 'string'
            ? (inBase64(value) as DataObject)
            : value,
      },
    ],
  },
];

const inBytes = (entry: Data, facts: StepFacts): Data =>
  isObject(entry) ? content.adapt(entry, facts) : entry;

const entriesOf = ({ entries }: DataObject): readonly Data[] => (Array.isArray(entries) ? entries : []);

const hasBytes = (entry: Data): boolean => isObject(entry) && entry.bytes instanceof Uint8Array;

/** Reserved for the path of each entry in the JSON of the answer. */
const ENTRY_BYTES = 64;

function refuseTooLong(contents: readonly Data[]): void {
  const total = contents.filter(isObject).reduce((sum, { path, bytes }) => {
    const pathBytes = typeof path === 'string' ? Buffer.byteLength(path) : 0;
    return sum + ENTRY_BYTES + pathBytes + (bytes instanceof Uint8Array ? bytes.byteLength : 0);
  }, 0);
  if (total <= TEXT_BYTES_MAX + ENTRY_BYTES) return;
  throw new OpenwopError('file_too_large', {
    message: `An answer of more than ${TEXT_BYTES_MAX} bytes is not returned as base64. Send \`bytes\` to get bytes.`,
    details: { maxTextBytes: TEXT_BYTES_MAX, maxFileSizeBytes: FILE_BYTES_MAX },
  });
}

const ARCHIVES: readonly OwnSpelling[] = [
  {
    call: 'archive.create',
    takes: [
      {
        says: '`contentBase64` (base64) of each entry → `bytes` (bytes)',
        adapt: (value, facts) =>
          Array.isArray(value.entries)
            ? { ...value, entries: value.entries.map((entry) => inBytes(entry, facts)) }
            : value,
      },
    ],
    gives: [
      sizeInBytes,
      {
        says: '`bytes` → `contentBase64` unless an entry came as `bytes`; with no entries, both',
        adapt: (value, { input }) => {
          const entries = entriesOf(input);
          if (entries.some(hasBytes)) return value;
          refuseTooLong([value]);
          const encoded = inBase64(value) as DataObject;
          return entries.length === 0 ? { ...value, ...encoded } : encoded;
        },
      },
    ],
  },
  inText('archive.extract', {
    says: '`bytes` of each entry → `contentBase64`',
    adapt: (value) => {
      refuseTooLong(entriesOf(value));
      return { ...value, entries: entriesOf(value).map(inBase64) };
    },
  }),
];

export const FS: readonly OwnSpelling[] = [...FILES, ...CONVERSIONS, ...ARCHIVES];
