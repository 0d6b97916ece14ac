/** Headers of messages: plain names, and text. */
import Type from 'typebox';
import { isPlainText } from './plain-text.ts';

type Texts = Readonly<Record<string, string>>;

const isHeader = ([name, value]: readonly [string, unknown]): boolean =>
  isPlainText(name) && typeof value === 'string';

/** TypeBox passes over names with a line break, whatever their value: the pattern of its records ends at one. */
export const Headers = Type.Refine(
  Type.Record(Type.String(), Type.String()),
  (headers) => Object.entries(headers).every(isHeader),
  (headers) => {
    const [name = ''] = Object.entries(headers).find((each) => !isHeader(each)) ?? [];
    return `has the header ${JSON.stringify(name)}: names are text without control characters, values are text`;
  },
);

/** What packs can be shown of a message that somebody else, or an older host, has put there. */
export const plainHeaders = (headers: Texts): Texts =>
  Object.fromEntries(Object.entries(headers).filter(isHeader));
