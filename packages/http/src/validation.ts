/** Validates requests with TypeBox. Errors name the invalid field, but never repeat its value. */
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

/** A cursor past the end of every log is valid: a value above all sequences becomes the largest number. */
const clamped = (value: number): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(value, Number.MAX_SAFE_INTEGER - 1));

/** Query values are text; those that the schema declares as integers become numbers if they are. */
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

/** Only `%00` can put NUL into a path or query, and no storage accepts it. */
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

/** A schema is compiled at its first request: most routes are not used in the first second. */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart = 'body' }) => {
  let compiled: ReturnType<typeof Compile<TSchema>> | undefined;
  const read = httpPart === 'querystring' ? queryReader(schema) : null;
  return (data: unknown) => {
    // Fastify passes a missing body as null; for a verb without fields that is an empty object.
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
