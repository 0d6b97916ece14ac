/** Parses the fields of a form from a browser. */
import { isUtf8 } from 'node:buffer';
import { invalid, OpenwopError } from '@gantry/protocol';

export const FORM_MEDIA = 'application/x-www-form-urlencoded';

export type FormFields = Record<string, string | string[]>;

/** A field that occurs more than once is a list. */
export function parseForm(bytes: Buffer, fieldsMax: number): FormFields {
  const text = bytes.toString('utf8');
  // `URLSearchParams` inserts a replacement character for bytes that are not UTF-8
  const escaped = [...text.matchAll(/(%[\da-fA-F]{2})+/g)].map(([part]) => part.replaceAll('%', ''));
  if (!isUtf8(bytes) || !escaped.every((part) => isUtf8(Buffer.from(part, 'hex'))))
    throw new OpenwopError('unsupported_media_type', {
      message: 'The fields of a form must be text in UTF-8.',
    });
  const form: FormFields = {};
  let count = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    if (++count > fieldsMax || name === '__proto__' || /\0/.test(name + value))
      throw invalid(`A form has at most ${fieldsMax} fields, of plain names and text.`);
    const before = Object.hasOwn(form, name) ? form[name] : undefined;
    form[name] = before === undefined ? value : [before, value].flat();
  }
  return form;
}
