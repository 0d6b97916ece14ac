/** Compiling a schema takes milliseconds, and many loaded schemas are not used. */
import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/schema';

export interface LazyValidator<T extends TSchema> {
  Schema(): T;
  Check(value: unknown): value is Static<T>;
  Errors(value: unknown): ReturnType<Validator['Errors']>;
}

/** Compiled on first use. */
export function lazyValidator<T extends TSchema>(schema: T): LazyValidator<T> {
  let compiled: Validator<T> | undefined;
  const get = (): Validator<T> => {
    compiled ??= Compile(schema);
    return compiled;
  };
  return {
    Schema: () => schema,
    Check: (value): value is Static<T> => get().Check(value),
    Errors: (value) => get().Errors(value),
  };
}
