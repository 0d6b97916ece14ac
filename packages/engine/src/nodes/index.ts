import { conditional } from './conditional.ts';
import { requiresMissing, sideEffect } from './conformance.ts';
import { delay } from './delay.ts';
import { fail } from './fail.ts';
import { getVariable } from './get-variable.ts';
import { loop } from './loop.ts';
import { merge } from './merge.ts';
import type { NodeType } from './node-type.ts';
import { noop } from './noop.ts';
import { end, identity, parallel } from './pass-through.ts';
import { setVariable } from './set-variable.ts';
import { start } from './start.ts';

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
  fail,
  sideEffect,
  requiresMissing,
];

export const NODE_TYPES: ReadonlyMap<string, NodeType> = new Map(ALL.map((type) => [type.typeId, type]));

/** Types of the protocol that need a capability which this host does not have. */
export const GATED_TYPES: ReadonlyMap<string, string> = new Map([
  ['core.conversationGate', 'conversationPrimitive'],
  ['core.orchestrator.supervisor', 'orchestrator.supported'],
  ['core.dispatch', 'dispatch.supported'],
]);
