/** Checks data against JSON Schemas in tests, as the host does in earnest. */
import { Ajv2020 } from 'ajv/dist/2020.js';

type Check = (value: unknown) => { readonly path: string; readonly message: string } | undefined;

/** Answers a text when the schema is no good. */
export function compileSchema(schema: unknown): Check | string {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return 'A schema is an object';
  try {
    const validate = new Ajv2020({ strict: false }).compile(schema);
    return (value) => {
      if (validate(value)) return;
      const [first] = validate.errors ?? [];
      return { path: first?.instancePath ?? '', message: first?.message ?? 'does not fit' };
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
