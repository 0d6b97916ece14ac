/** Types that only conformance workflows use. */
import type { JsonObject } from '@gantry/protocol';
import { isConformance } from '../conformance-workflow.ts';
import { completeNode } from '../node-run.ts';
import { emitNode } from '../step.ts';
import { failed, type NodeType } from './node-type.ts';
import { settingsOf } from './settings.ts';

export const sideEffect: NodeType = {
  typeId: 'core.conformance.side-effect',
  leavesProcess: true,
  prepare(preparation) {
    const { flag, whole } = settingsOf(preparation);
    flag('idempotent');
    whole('effects', 1, 100);
    return () => ({ kind: 'dispatched' });
  },
};

const SECRET_ID = /^(openwop-)?conformance-[A-Za-z0-9._-]{1,100}$/;

/**
 * Resolves a secret and outputs its hash and length as proof; with `echo` it also tries to put the value into its
 * outputs. Only for secrets of the conformance suite: a hash of any other secret could be used to test guesses.
 */
export const secretEcho: NodeType = {
  typeId: 'conformance.secret.echo',
  leavesProcess: true,
  prepare({ config, definition, issue }) {
    if (!isConformance(definition))
      issue('', 'Secrets can be echoed in conformance workflows only', 'conformance.mockAgent');
    if (typeof config.secretId !== 'string' || !SECRET_ID.test(config.secretId))
      issue('secretId', 'secretId must begin with conformance- or openwop-conformance-');
    return () => ({ kind: 'dispatched' });
  },
};

/** Emits the cost of a model from the attributes that the protocol defines; all others are dropped. */
export const costEmit: NodeType = {
  typeId: 'conformance.cost.emit',
  prepare({ config, definition, issue }) {
    if (!isConformance(definition))
      issue('', 'Costs can be emitted this way in conformance workflows only', 'conformance.mockAgent');
    const payload = usageIn(Object(config.attrs));
    return () => ({
      kind: 'acts',
      act(step, node) {
        emitNode(step, node.id, 'provider.usage', { ...payload, nodeId: node.id });
        completeNode(step, node, {});
      },
    });
  },
};

function usageIn(attrs: JsonObject): JsonObject {
  const count = (name: string): number => Math.max(0, Math.trunc(Number(attrs[`openwop.cost.${name}`]) || 0));
  const [inputTokens, outputTokens] = [count('tokens.input'), count('tokens.output')];
  const [provider, usd] = [attrs['openwop.cost.provider'], attrs['openwop.cost.usd']];
  return {
    provider: typeof provider === 'string' ? provider : 'unknown',
    model: 'unknown',
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    ...(typeof usd === 'number' && usd >= 0 && { costEstimateUsd: usd, currency: 'USD' }),
  };
}

/** Receives one envelope; the test interface that starts its run defines which. */
export const envelope: NodeType = {
  typeId: 'conformance.envelope',
  leavesProcess: true,
  prepare({ definition, issue }) {
    if (!definition.id.startsWith('conformance-'))
      issue('', 'Envelopes can be received this way in conformance workflows only', 'conformance.mockAgent');
    return { execute: () => ({ kind: 'dispatched' }), answered: () => {} };
  },
};

/** Requires a model capability that no model has: the host refuses to dispatch it. */
export const modelInsufficient: NodeType = {
  typeId: 'conformance.modelCapability.insufficient',
  leavesProcess: true,
  prepare: () => () => ({ kind: 'dispatched' }),
};

/** Requires a runtime capability that no host provides: it is refused when it is reached. */
export const requiresMissing: NodeType = {
  typeId: 'conformance.requiresMissing',
  prepare: () => () =>
    failed(
      'capability_not_provided',
      'The node requires the capability `conformance.never-provided`, which this host does not provide.',
    ),
};
