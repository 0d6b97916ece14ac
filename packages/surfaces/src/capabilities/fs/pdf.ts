/** `ctx.fs.pdf`: the work is done by a process of its own. */
import Type, { type Static } from 'typebox';
import type { MethodLiteral } from '../../calls/define-surface.ts';
import { Bytes } from '../../calls/schema.ts';
import type { ReadCall } from '../../calls/surface-call.ts';
import type { Converter } from './convert/converter.ts';
import type { PdfTask } from './convert/task.ts';

const PARTS_MAX = 100;
const PDF = 'application/pdf';
const Pages = Type.Integer();
const pdf = { effect: 'read', needs: 'pdf' } as const;

export const PDF_METHODS = {
  'pdf.extractText': {
    ...pdf,
    summary: 'The text, page by page.',
    input: Type.Object({ bytes: Bytes }),
    output: Type.Object({ text: Type.String(), pages: Pages }),
  },
  'pdf.split': {
    ...pdf,
    summary: 'One file for each of `ranges`, which are written `3`, `2-5`, `7-` or `-2`.',
    input: Type.Object({
      bytes: Bytes,
      ranges: Type.Array(Type.String({ maxLength: 20 }), { minItems: 1, maxItems: PARTS_MAX }),
    }),
    output: Type.Object({
      parts: Type.Array(
        Type.Object({ bytes: Bytes, contentType: Type.String(), range: Type.String(), pages: Pages }),
      ),
    }),
  },
  'pdf.merge': {
    ...pdf,
    summary: 'One file with the pages of all parts, in their order.',
    input: Type.Object({ parts: Type.Array(Bytes, { minItems: 1, maxItems: PARTS_MAX }) }),
    output: Type.Object({ bytes: Bytes, contentType: Type.String(), pages: Pages }),
  },
} as const satisfies Record<string, MethodLiteral>;

export function implementPdf(converter: Converter) {
  const convert = (parts: readonly Uint8Array[], task: PdfTask, call: ReadCall) =>
    converter.run({ kind: 'pdf', ...task }, parts, call);
  type Input<Name extends keyof typeof PDF_METHODS> = Static<(typeof PDF_METHODS)[Name]['input']>;
  return {
    async 'pdf.extractText'({ bytes }: Input<'pdf.extractText'>, call: ReadCall) {
      const { value } = await convert([bytes], { op: 'text' }, call);
      return value as { text: string; pages: number };
    },
    async 'pdf.split'({ bytes, ranges }: Input<'pdf.split'>, call: ReadCall) {
      const { value, parts } = await convert([bytes], { op: 'split', ranges }, call);
      const facts = value as readonly { range: string; pages: number }[];
      return { parts: parts.map((part, index) => ({ bytes: part, contentType: PDF, ...facts[index]! })) };
    },
    async 'pdf.merge'({ parts }: Input<'pdf.merge'>, call: ReadCall) {
      const { value, parts: made } = await convert(parts, { op: 'merge' }, call);
      const { pages } = value as { pages: number };
      return { bytes: made[0] ?? new Uint8Array(), contentType: PDF, pages };
    },
  };
}
