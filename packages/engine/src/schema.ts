import type { Json } from '@gantry/protocol';

/** What is wrong with a value; undefined when it fits. */
export type SchemaCheck = (value: Json) => { readonly path: string; readonly message: string } | undefined;

/** Compiles a JSON Schema. Passed in: the core has no validator. Answers a text when the schema is no good. */
export type CompileSchema = (schema: Json) => SchemaCheck | string;
