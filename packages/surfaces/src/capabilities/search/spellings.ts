import { type Data, type DataObject, isObject } from '../../calls/data.ts';
import { either, isList, member, type OwnSpelling, rename } from '../../calls/spelling.ts';

/** Texts, numbers and booleans are kept; lists and objects become the texts in them, one per line. */
const fieldsOf = (document: DataObject): DataObject =>
  Object.fromEntries(
    Object.entries(document).flatMap(([name, value]) => {
      if (typeof value !== 'object') return [[name, value]];
      const texts = leavesOf(value);
      return texts.length === 0 ? [] : [[name, texts.join('\n')]];
    }),
  );

const leavesOf = (value: Data): string[] =>
  value === null || value instanceof Uint8Array
    ? []
    : typeof value === 'object'
      ? Object.values(value).flatMap(leavesOf)
      : [String(value)];

export const SEARCH: readonly OwnSpelling[] = [
  {
    call: 'index',
    when: 'document',
    takes: [
      either('document', 'docs'),
      member(
        'docs',
        'one of `id` and `document`; lists and objects in it become text',
        (value) => {
          const { id = '', document = {} } = value;
          return [{ id, fields: isObject(document) ? fieldsOf(document) : document }];
        },
        ['id', 'document'],
      ),
    ],
    gives: [member('indexed', 'whether it was', ({ indexed }) => indexed === 1)],
  },
  {
    call: 'query',
    when: 'query',
    takes: [rename({ query: 'q', limit: 'k' })],
    gives: [
      member('totalHits', 'how many came back', ({ hits }) => (isList(hits) ? hits.length : undefined)),
    ],
  },
];
