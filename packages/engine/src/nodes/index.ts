import { callPrompt, mockAi, structuredOutput } from './ai.ts';
import { approvalGate } from './approval-gate.ts';
import { channelWrite } from './channel-write.ts';
import { clarificationGate } from './clarification-gate.ts';
import { conditional } from './conditional.ts';
import * as conformance from './conformance.ts';
import { conversationGate } from './conversation-gate.ts';
import { delay } from './delay.ts';
import { dispatch } from './dispatch.ts';
import { fail } from './fail.ts';
import { getVariable } from './get-variable.ts';
import { governanceGate } from './governance-gate.ts';
import { interrupt } from './interrupt.ts';
import { loop } from './loop.ts';
import { merge } from './merge.ts';
import { mockAgent } from './mock-agent.ts';
import type { NodeType } from './node-type.ts';
import { noop } from './noop.ts';
import { end, identity, parallel } from './pass-through.ts';
import { setVariable } from './set-variable.ts';
import { start } from './start.ts';
import { subWorkflow } from './sub-workflow.ts';
import { supervisor } from './supervisor.ts';

const ALL: readonly NodeType[] = [
  start,
  end,
  noop,
  identity,
  conditional,
  delay,
  loop,
  parallel,
  merge,
  setVariable,
  getVariable,
  channelWrite,
  subWorkflow,
  supervisor,
  dispatch,
  approvalGate,
  governanceGate,
  clarificationGate,
  interrupt,
  conversationGate,
  callPrompt,
  structuredOutput,
  mockAi,
  fail,
  ...Object.values(conformance),
  mockAgent,
];

export const NODE_TYPES: ReadonlyMap<string, NodeType> = new Map(ALL.map((type) => [type.typeId, type]));

/** Types that packs cannot replace. */
export const OWN_TYPE_IDS: ReadonlySet<string> = new Set(
  ALL.filter((type) => !type.yields).map(({ typeId }) => typeId),
);
