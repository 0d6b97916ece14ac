/**
 * A person approves a tool call before it is made: the node stops at the call, and its code runs again with
 * the answer.
 *
 * I1  An approval is for one call of the node with the arguments that were shown. With others it is refused.
 * I2  Pack code cannot ask under a key of this kind, so it cannot approve its own calls.
 */
import type { PackSuspension } from '@gantry/engine';
import { type Json, type JsonObject, OpenwopError } from '@gantry/protocol';

export interface ApprovalWish {
  readonly tool: string;
  /** The position among the calls of the node, which is the same when the node repeats. */
  readonly place: string;
  readonly argsHash: string;
  /** The arguments as shown to people, without secrets. */
  readonly shown: Json;
}

/** Returns if the call is approved. Throws `approval_rejected`, or `approval_pending` if the node has to stop. */
export type Approve = (wish: ApprovalWish) => void;

const PREFIX = 'gantry.tool:';
const SHOWN_MAX = 16_384;
const REASON_MAX = 500;

/** Keys of questions that only the host asks. */
export const isHostKey = (key: string): boolean => key.startsWith('gantry.');

/** `answers`: the answers of the node so far, by key. */
export const approval =
  (answers: JsonObject, stop: (suspension: PackSuspension) => void): Approve =>
  ({ tool, place, argsHash, shown }) => {
    const prefix = `${PREFIX}${place}:`;
    const key = `${prefix}${argsHash}`;
    const answer = Object.hasOwn(answers, key) ? answers[key] : undefined;
    if (isApproved(answer)) return;
    if (answer !== undefined) throw rejected(tool, answer);
    if (Object.keys(answers).some((other) => other.startsWith(prefix))) throw changed(tool);
    stop({ key, request: requestOf(tool, argsHash, shown) });
    throw new OpenwopError('approval_pending', { message: `This call of ${tool} requires an approval.` });
  };

const isApproved = (answer: Json | undefined): boolean =>
  typeof answer === 'object' && answer !== null && !Array.isArray(answer) && answer.approved === true;

const requestOf = (tool: string, argsHash: string, shown: Json): JsonObject => ({
  kind: 'approval',
  title: `Approve a call of ${tool}`,
  artifactId: argsHash,
  artifactType: 'tool.call',
  actions: ['accept', 'reject'],
  artifactData: { tool, argsHash, args: bounded(shown) },
});

/** Arguments that are too large to be shown are replaced by their size; the hash identifies them. */
function bounded(shown: Json): Json {
  const length = JSON.stringify(shown).length;
  return length <= SHOWN_MAX ? shown : { omitted: `${length} characters` };
}

function rejected(toolName: string, answer: Json): OpenwopError {
  const { decidedBy, reason } = Object(answer);
  const by = typeof decidedBy === 'string' ? `: ${decidedBy} rejected it` : '';
  const why = by !== '' && typeof reason === 'string' ? ` ("${reason.slice(0, REASON_MAX)}")` : '';
  return new OpenwopError('approval_rejected', {
    message: `This call of ${toolName} was not approved${by}${why}.`,
    details: { scope: 'tool', toolName },
  });
}

const changed = (toolName: string): OpenwopError =>
  new OpenwopError('idempotency_key_mismatch', {
    message:
      `This call of ${toolName} has other arguments than the one that was approved. A node that runs again must make ` +
      'the same call: take times and ids from its inputs or from ctx.runId.',
    details: { scope: 'tool', toolName },
  });
