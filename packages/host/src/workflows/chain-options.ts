/** The options of this host for the chain library. */
import { hash, randomBytes } from 'node:crypto';
import type { CompileSchema, ExpandOptions } from '@gantry/packs';
import { type JsonObject, OpenwopError } from '@gantry/protocol';
import { compileUserSchema } from './user-schema.ts';

const EXPANSION_ID_BYTES = 4;

const compileSchema: CompileSchema = (schema: JsonObject) => {
  const check = compileUserSchema(schema);
  if (typeof check === 'string') throw new OpenwopError('chain_parameter_invalid', { message: `${check}.` });
  return (value) => {
    const issue = check(value);
    return issue ? [issue] : [];
  };
};

const newExpansionId = (): string => randomBytes(EXPANSION_ID_BYTES).toString('hex');

export const sha256 = (text: string): string => hash('sha256', text, 'hex');

/** Types other than `core.*` come with packs. */
export const chainOptions = (isKnownType: (typeId: string) => boolean): ExpandOptions => ({
  expansionId: newExpansionId(),
  isKnownType,
  compileSchema,
  capabilities: { compensation: false },
});
