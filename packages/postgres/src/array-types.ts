/**
 * Parses and serialises arrays of integers and texts. The driver could query the array types on each new
 * connection, but it does not handle a failure of that query, which ends the process.
 */
const OIDS = { int4: 1007, text: 1009, int8: 1016 };

const serialize = (values: unknown): string =>
  Array.isArray(values) ? `{${values.map(elementText).join(',')}}` : String(values);

const elementText = (value: unknown): string =>
  value === null ? 'null' : `"${String(value).replace(/["\\]/g, '\\$&')}"`;

const ELEMENT = /"((?:[^"\\]|\\.)*)"|[^,{}]+/gs;

/** For one dimension. */
const parser =
  <T>(parse: (text: string) => T) =>
  (text: string): unknown =>
    [...text.matchAll(ELEMENT)].map(([bare, quoted]) => {
      if (quoted !== undefined) return parse(quoted.replace(/\\(.)/gs, '$1'));
      return bare === 'NULL' ? null : parse(bare);
    });

export const ARRAY_TYPES = {
  texts: { to: OIDS.text, from: [OIDS.text], serialize, parse: parser(String) },
  integers: { to: OIDS.int8, from: [OIDS.int8, OIDS.int4], serialize, parse: parser(Number) },
};
