/** Nodes that call a model. The host makes the call; this file checks their config. */
import { isConformance } from '../conformance-workflow.ts';
import { isObject } from '../json.ts';
import type { Behaviour, NodeType, Preparation } from './node-type.ts';
import { settingsOf } from './settings.ts';

const TEXTS = [
  'provider',
  'model',
  'credentialRef',
  'systemPrompt',
  'userPrompt',
  'prompt',
  'promptId',
  'envelopeType',
];

function checkAsk(preparation: Preparation): void {
  const { config, issue } = preparation;
  const settings = settingsOf(preparation);
  for (const name of TEXTS) settings.text(name);
  settings.whole('maxTokens', 1);
  const { temperature = 0, messages = [] } = config;
  if (typeof temperature !== 'number' || temperature < 0 || temperature > 2)
    issue('temperature', 'temperature must be a number from 0 to 2');
  if (!Array.isArray(messages)) issue('messages', 'messages must be a list');
}

/** The answer to an interrupt of the model is kept with the node, which runs again. */
const DISPATCHED: Behaviour = { execute: () => ({ kind: 'dispatched' }), answered: () => {} };

export const callPrompt: NodeType = {
  typeId: 'core.ai.callPrompt',
  leavesProcess: true,
  artifactOutput: 'output',
  yields: true,
  prepare(preparation) {
    checkAsk(preparation);
    if (preparation.config.mcp !== undefined)
      preparation.issue('mcp', 'Prompts that call tools of MCP servers are not served', 'mcp');
    return DISPATCHED;
  },
};

/** Like `core.ai.callPrompt` with the provider `scripted`. The prompt fixtures of the public suite use it. */
export const mockAi: NodeType = {
  typeId: 'local.sample.demo.mock-ai',
  leavesProcess: true,
  yields: true,
  prepare(preparation) {
    checkAsk(preparation);
    if (!isConformance(preparation.definition))
      preparation.issue(
        '',
        'Scripted models are available in conformance workflows only',
        'conformance.mockAgent',
      );
    return DISPATCHED;
  },
};

export const structuredOutput: NodeType = {
  typeId: 'core.ai.structuredOutput',
  leavesProcess: true,
  artifactOutput: 'output',
  yields: true,
  prepare(preparation) {
    checkAsk(preparation);
    const { config, issue, schema } = preparation;
    settingsOf(preparation).whole('retryOnInvalidJson', 0, 16);
    const name = config.responseSchema === undefined ? 'outputSchema' : 'responseSchema';
    if (!isObject(config[name])) issue(name, `${name} must be the JSON Schema of the answer`);
    else schema(name, config[name]);
    return DISPATCHED;
  },
};
