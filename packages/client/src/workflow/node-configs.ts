/** The settings of core node types, as docs/nodes.md describes them. Conformance settings are left out. */
import type { ChannelDeclaration, EdgeCondition, Json, JsonObject } from '@gantry/protocol';

type NoSettings = Readonly<Record<string, never>>;
type Names<To extends string, From extends string> = { readonly [to in To]?: From };
type JsonSchema = JsonObject;

interface Prompt {
  readonly provider?: string;
  readonly model?: string;
  readonly credentialRef?: string;
  readonly systemPrompt?: string;
  readonly userPrompt?: string;
  readonly prompt?: string;
  readonly messages?: readonly Json[];
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly systemPromptRef?: string;
  readonly userPromptRef?: string;
  readonly schemaHintPromptRef?: string;
  readonly fewShotPromptRefs?: readonly string[];
}

interface Gate {
  readonly title?: string;
  readonly description?: string;
  readonly artifactId?: string;
  readonly artifactType?: string;
  readonly resumeSchema?: JsonSchema;
}

/** How children get their variables, and which of them they return. */
interface Mappings<Variable extends string> {
  /** Variables of the child, from variables of this workflow. */
  readonly inputMapping?: { readonly [child: string]: Variable };
  /** Variables of this workflow, from variables of the child. */
  readonly outputMapping?: Names<Variable, string>;
}

/** By type, for the variables and channels that a workflow declares. */
export interface NodeConfigs<Variable extends string, Channel extends string> {
  readonly 'core.start': NoSettings;
  readonly 'core.end': NoSettings;
  readonly 'core.parallel': NoSettings;
  readonly 'core.noop': NoSettings;
  readonly 'core.identity': NoSettings;
  readonly 'core.conditional': Pick<EdgeCondition, 'type' | 'left' | 'right' | 'expression'>;
  readonly 'core.delay': { readonly delayMs?: number };
  readonly 'core.loop': { readonly count?: number; readonly maxIterations?: number };
  readonly 'core.merge': { readonly mode?: 'object' | 'array' };
  readonly 'core.setVariable':
    | { readonly name: Variable; readonly value?: Json; readonly expression?: string }
    | { readonly variables: { readonly [name in Variable]?: Json } };
  readonly 'core.getVariable': { readonly name: Variable };
  readonly 'core.channelWrite': {
    readonly channelName: Channel;
    readonly value?: Json;
    readonly reducer?: ChannelDeclaration['reducer'];
    readonly ttlMs?: number;
  };
  readonly 'core.subWorkflow': Mappings<Variable> & {
    readonly workflowId: string;
    readonly waitForCompletion?: true;
    readonly onChildFailure?: 'fail-parent' | 'absorb';
    readonly propagateCancellation?: boolean;
    readonly outputAttestation?: { readonly checksum?: boolean; readonly requireApproval?: boolean };
  };
  readonly 'core.orchestrator.supervisor': { readonly iterationCap?: number };
  readonly 'core.dispatch': Mappings<Variable> & {
    readonly askUserRouting?: 'auto' | 'clarification' | 'conversation';
    readonly workerDispatchModel?: 'child-run';
    readonly fanOutPolicy?: 'sequential' | 'reject' | 'parallel';
    readonly maxConcurrency?: number;
    readonly iterationCap?: number;
    readonly perWorkerInputMappings?: { readonly [worker: string]: Mappings<Variable>['inputMapping'] };
    readonly perWorkerOutputMappings?: { readonly [worker: string]: Mappings<Variable>['outputMapping'] };
    readonly joinPolicy?: {
      readonly mode?: 'wait-all' | 'quorum' | 'first' | 'race';
      readonly quorum?: number;
      readonly onChildFailure?: 'collect' | 'absorb' | 'fail-fast';
    };
  };
  readonly 'core.approvalGate': Gate & {
    readonly actions?: readonly ('accept' | 'reject' | 'refine' | 'edit-accept' | 'ask')[];
    readonly artifactData?: Json;
    readonly requiredApprovals?: number;
    readonly rejectionPolicy?: 'single-veto' | 'majority';
    readonly distinctVoters?: boolean;
    readonly approversList?: readonly string[];
    readonly approverRoleRefs?: readonly string[];
    readonly approverGroupRefs?: readonly string[];
    readonly audience?: Json;
    readonly profile?: 'openwop-interrupt-auth-required';
    readonly timeoutMs?: number;
  };
  readonly 'core.openwop.governance.approvalGate': Gate & {
    readonly requiredRole?: string;
    readonly requiredScope?: string;
    readonly quorum?: number;
    readonly override?: { readonly requiredRole: string };
    readonly overrideBypassesQuorum?: boolean;
    readonly timeoutSec?: number;
  };
  readonly 'core.clarificationGate': {
    readonly questions: readonly {
      readonly id: string;
      readonly question: string;
      readonly schema?: JsonSchema;
    }[];
    readonly contextType?: string;
    readonly timeoutMs?: number;
    readonly resumeSchema?: JsonSchema;
  };
  readonly 'core.interrupt': {
    readonly kind: 'approval' | 'clarification' | 'external-event' | 'custom' | 'low-confidence';
    readonly data: JsonObject;
    readonly timeoutMs?: number;
    readonly resumeSchema?: JsonSchema;
  };
  readonly 'core.conversationGate': {
    readonly prompt?: string;
    readonly channel?: Channel;
    readonly maxTurns?: number;
    readonly outcomeSchema?: JsonSchema;
    readonly timeoutMs?: number;
  };
  readonly 'core.ai.callPrompt': Prompt & { readonly envelopeType?: string };
  readonly 'core.ai.structuredOutput': Prompt & {
    readonly outputSchema: JsonSchema;
    readonly retryOnInvalidJson?: number;
  };
  readonly 'core.fail': { readonly code?: string; readonly message?: string };
}

/** The outputs of types whose outputs are always the same; other types have any. */
export interface NodeOutputs {
  readonly 'core.conditional': 'result';
  readonly 'core.loop': 'index' | 'count' | 'done' | 'item';
  readonly 'core.merge': 'output';
  readonly 'core.getVariable': 'value';
  readonly 'core.clarificationGate': 'answers' | 'answeredBy';
}
