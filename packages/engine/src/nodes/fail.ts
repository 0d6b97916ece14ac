import type { Json } from '@gantry/protocol';
import { failed, type NodeType } from './node-type.ts';

const textOr = (value: Json | undefined, fallback: string): string =>
  typeof value === 'string' && value !== '' ? value : fallback;

export const fail: NodeType = {
  typeId: 'core.fail',
  prepare({ config }) {
    const code = textOr(config.code, 'conformance_test_failure');
    const message = textOr(config.message, 'Intentional conformance failure');
    // Retryable, so that the retry settings of a workflow can be tested.
    return ({ inputs }) => failed(textOr(inputs.code, code), textOr(inputs.message, message), true);
  },
};
