/**
 * The members that the config of each core node type may have. Other members are refused: a typo such as
 * `requiredAprovals` would silently change the behaviour of a workflow.
 */
import { NAME_MAX } from '@gantry/protocol';
import type { Preparation } from './node-type.ts';

const ASK = [
  'provider',
  'model',
  'credentialRef',
  'systemPrompt',
  'userPrompt',
  'prompt',
  'messages',
  'temperature',
  'maxTokens',
  'systemPromptRef',
  'userPromptRef',
  'schemaHintPromptRef',
  'fewShotPromptRefs',
];
const GATE = ['title', 'description', 'artifactId', 'artifactType', 'resumeSchema'];

export const CONFIG_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  'core.start': [],
  'core.end': [],
  'core.parallel': [],
  // The last two are for tests of other hosts, and have no effect here
  'core.noop': ['nondeterministic', 'phase4Probe'],
  'core.identity': ['byokSecretId', 'memoryAction', 'probeMemoryRef', 'emitDuplicateMessageId'],
  'core.conditional': ['type', 'left', 'right', 'expression'],
  'core.delay': ['delayMs', 'ms', 'durationMs'],
  'core.loop': ['count', 'maxIterations'],
  'core.merge': ['mode'],
  'core.setVariable': ['name', 'value', 'expression', 'variables'],
  'core.getVariable': ['name'],
  'core.channelWrite': ['channelName', 'value', 'reducer', 'ttlMs'],
  'core.subWorkflow': [
    'workflowId',
    'waitForCompletion',
    'onChildFailure',
    'propagateCancellation',
    'inputMapping',
    'outputMapping',
    'outputAttestation',
  ],
  'core.orchestrator.supervisor': [
    'iterationCap',
    'mockDispatchPlan',
    'mockDecisions',
    'mockPendingDecision',
    'mockConfidence',
  ],
  'core.dispatch': [
    'askUserRouting',
    'workerDispatchModel',
    'fanOutPolicy',
    'iterationCap',
    'inputMapping',
    'outputMapping',
    'perWorkerInputMappings',
    'perWorkerOutputMappings',
    'joinPolicy',
    'maxConcurrency',
  ],
  'core.approvalGate': [
    ...GATE,
    'actions',
    'artifactData',
    'requiredApprovals',
    'approversList',
    'approverGroupRefs',
    'approverRoleRefs',
    'rejectionPolicy',
    'distinctVoters',
    'audience',
    'profile',
    'timeoutMs',
  ],
  'core.openwop.governance.approvalGate': [
    ...GATE,
    'quorum',
    'requiredRole',
    'requiredScope',
    'override',
    'overrideBypassesQuorum',
    'timeoutSec',
  ],
  'core.clarificationGate': ['questions', 'contextType', 'timeoutMs', 'resumeSchema'],
  'core.interrupt': ['kind', 'data', 'timeoutMs', 'resumeSchema'],
  'core.conversationGate': [
    'prompt',
    'initialPrompt',
    'lifecycle',
    'channel',
    'maxTurns',
    'outcomeSchema',
    'timeoutMs',
    'mockAutoResume',
    'turnCount',
  ],
  'core.ai.callPrompt': [...ASK, 'promptId', 'envelopeType', 'expectsStreaming', 'mcp'],
  'local.sample.demo.mock-ai': ASK,
  'core.ai.structuredOutput': [...ASK, 'outputSchema', 'responseSchema', 'retryOnInvalidJson'],
  'conformance.modelCapability.insufficient': [],
  'core.fail': ['code', 'message'],
  'core.conformance.side-effect': ['idempotent', 'effects'],
};

/** Reports unknown members. Types that are not listed check their config themselves. */
export function checkMembers({ node, config, unknown }: Preparation): void {
  const known = Object.hasOwn(CONFIG_MEMBERS, node.typeId) ? CONFIG_MEMBERS[node.typeId] : undefined;
  if (!known) return;
  for (const name of Object.keys(config)) {
    if (known.includes(name)) continue;
    const shown = name.slice(0, NAME_MAX);
    unknown(shown, `${node.typeId} has no setting ${shown}`, shown, known);
  }
}
