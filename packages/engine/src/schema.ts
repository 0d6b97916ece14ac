import type { Json } from '@gantry/protocol';

/** Returns the problem with a value; undefined when it is valid. */
export type SchemaCheck = (value: Json) => { readonly path: string; readonly message: string } | undefined;

/**
 * Compiles a JSON Schema. Injected, since the core has no validator. Returns an error text when the schema is invalid.
 */
export type CompileSchema = (schema: Json) => SchemaCheck | string;
