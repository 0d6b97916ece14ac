/** Requests are checked by TypeBox; what fails is named, never repeated. */
import { invalid, type JsonObject, type OpenwopError, type Problem, problemsIn } from '@gantry/protocol';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/schema';

const ERRORS_SHOWN_MAX = 10;
const INTEGER = /^-?\d{1,40}$/;

function validationError(part: string, problems: readonly Problem[]): OpenwopError {
  const fields: JsonObject[] = problems
    .slice(0, ERRORS_SHOWN_MAX)
    .map(({ field, problem }) => ({ field: `${part}${field}`, problem }));
  const first = fields[0];
  return invalid(first ? `${first.field} ${first.problem}.` : 'The request is not valid.', { fields });
}

/** A cursor past every log is still a cursor: what no sequence can reach counts as the largest number. */
const clamped = (value: number): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(value, Number.MAX_SAFE_INTEGER - 1));

/** Query values arrive as text; those the schema calls integers become numbers when they are. */
function queryReader(schema: TSchema): (query: Record<string, unknown>) => Record<string, unknown> {
  const properties = 'properties' in schema ? (schema.properties as Record<string, TSchema>) : {};
  const integers = Object.keys(properties).filter((name) => {
    const property = properties[name]!;
    return 'type' in property && property.type === 'integer';
  });
  return (query) => {
    const read = { ...query };
    for (const name of integers) {
      const value = query[name];
      if (typeof value === 'string' && INTEGER.test(value)) read[name] = clamped(Number(value));
    }
    return read;
  };
}

/** `%00` is the one way to bring NUL into a path or query, and no storage takes it. */
const hasNul = (values: unknown): boolean =>
  typeof values === 'object' &&
  values !== null &&
  Object.values(values).some((value) => typeof value === 'string' && value.includes('\0'));

const PARTS: Record<string, string> = {
  body: 'body',
  params: 'path',
  querystring: 'query',
  headers: 'header',
};

/** A schema is compiled when the first request needs it: most routes are not used in the first second. */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart = 'body' }) => {
  let compiled: ReturnType<typeof Compile<TSchema>> | undefined;
  const read = httpPart === 'querystring' ? queryReader(schema) : null;
  return (data: unknown) => {
    // Fastify hands over an absent body as null; for a verb without fields that is an empty object.
    const value = data === null ? {} : read === null ? data : read(data as Record<string, unknown>);
    if (httpPart !== 'body' && hasNul(value)) {
      return {
        error: validationError(PARTS[httpPart] ?? httpPart, [{ field: '', problem: 'has NUL' }]),
      };
    }
    compiled ??= Compile(schema);
    if (compiled.Check(value)) return { value };
    return {
      error: validationError(PARTS[httpPart] ?? httpPart, problemsIn(compiled, value)),
    };
  };
};
