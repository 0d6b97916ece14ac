import type { Json } from '@gantry/protocol';
import { ASKABLE, type AskableKind, checkData, resumeSchemaOf, timeoutOf } from '../interrupt/data.ts';
import type { InterruptRequest } from '../interrupt/interrupt.ts';
import { suspend } from '../interrupt/suspend.ts';
import { isObject } from '../json.ts';
import { textAt } from '../payload.ts';
import type { NodeType } from './node-type.ts';

const KINDS = Object.keys(ASKABLE).join(', ');

const isAskable = (kind: Json | undefined): kind is AskableKind =>
  typeof kind === 'string' && Object.hasOwn(ASKABLE, kind);

/** Opens the interrupt that its config defines. */
export const interrupt: NodeType = {
  typeId: 'core.interrupt',
  prepare(preparation) {
    const { config, issue } = preparation;
    const { kind, data } = config;
    if (!isAskable(kind))
      issue('kind', `kind must be one of ${KINDS}; conversations have a gate of their own`);
    if (!isObject(data)) issue('data', 'data must be an object');
    if (!isAskable(kind) || !isObject(data)) return () => ({ kind: 'completed', outputs: {} });
    checkData(preparation, 'data', kind, data);
    const request: InterruptRequest = {
      kind,
      data,
      ...timeoutOf(preparation, 'timeoutMs'),
      ...resumeSchemaOf(preparation),
      ...(kind === 'low-confidence' && {
        reason: 'low-confidence',
        suspendedWith: { agentId: textAt(data, 'agentId') },
      }),
    };
    return () => ({ kind: 'acts', act: (step, node) => void suspend(step, node, request) });
  },
};
