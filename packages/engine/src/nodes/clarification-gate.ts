import { given, type JsonObject } from '@gantry/protocol';
import { checkData, resumeSchemaOf, timeoutOf } from '../interrupt/data.ts';
import { suspend } from '../interrupt/suspend.ts';
import type { NodeType } from './node-type.ts';

export const clarificationGate: NodeType = {
  typeId: 'core.clarificationGate',
  outputs: ['answers', 'answeredBy'],
  prepare(preparation) {
    const { questions, contextType } = preparation.config;
    const data: JsonObject = given({ questions, contextType });
    checkData(preparation, '', 'clarification', data);
    const request = {
      kind: 'clarification',
      data,
      ...timeoutOf(preparation, 'timeoutMs'),
      ...resumeSchemaOf(preparation),
    } as const;
    return () => ({ kind: 'acts', act: (step, node) => void suspend(step, node, request) });
  },
};
