/** Checks data against JSON Schemas in tests, as the host does in earnest. */
import { Ajv2020 } from 'ajv/dist/2020.js';

type Check = (value: unknown) => { readonly path: string; readonly message: string } | undefined;

/** One for all, which checks each schema by the same compiled one; it keeps none of them under its id. */
const ajv = new Ajv2020({ strict: false, addUsedSchema: false, code: { optimize: false } });

/** Answers a text when the schema is no good. */
export function compileSchema(schema: unknown): Check | string {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return 'A schema is an object';
  try {
    const validate = ajv.compile(schema);
    return (value) => {
      if (validate(value)) return;
      const [first] = validate.errors ?? [];
      return { path: first?.instancePath ?? '', message: first?.message ?? 'does not fit' };
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
