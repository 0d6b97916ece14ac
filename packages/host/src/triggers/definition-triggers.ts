/** Triggers of workflow definitions that become subscriptions, and those that nothing here starts runs from. Pure. */
import {
  DEFAULT_SCHEME,
  lazyValidator,
  OpenwopError,
  WebhookTriggerConfig,
  type WorkflowDefinition,
} from '@gantry/protocol';
import { mappingProblem } from './input-mapping.ts';
import { isQueueTrigger, queueTrigger, queueTriggerProblem } from './queue-source/registration.ts';
import { retryPolicyOf } from './retry.ts';
import type { Wanted } from './trigger.ts';

const config = lazyValidator(WebhookTriggerConfig);
/** What no part of this host watches for. */
const UNSERVED: ReadonlySet<string> = new Set([
  'event',
  'artifact',
  'canvas',
  'envelope',
  'command',
  'chat-message',
]);

type Trigger = WorkflowDefinition['triggers'][number];
type Triggers = Pick<WorkflowDefinition, 'id' | 'triggers' | 'isActive' | 'variables' | 'nodes'>;

export interface TriggerIssue {
  readonly path: string;
  readonly message: string;
  readonly code: 'validation_error' | 'capability_required';
}

/** What is wrong with the triggers of a definition. One that is switched off may be of any type. */
export function triggerIssues({ triggers, variables, nodes }: Triggers): TriggerIssue[] {
  return triggers.flatMap((trigger, index): TriggerIssue[] => {
    const path = `/triggers/${index}`;
    if (isQueueTrigger(trigger, nodes)) {
      const problem = queueTriggerProblem(trigger, nodes) ?? queueStartProblem(variables, trigger, nodes);
      return problem === null ? [] : [{ path: `${path}/config`, message: problem, code: 'validation_error' }];
    }
    if (UNSERVED.has(trigger.type) && trigger.enabled !== false) {
      const message = `This host starts no runs from triggers of type ${trigger.type}`;
      return [{ path: `${path}/type`, message, code: 'capability_required' }];
    }
    if (trigger.type !== 'webhook') return [];
    const problem = configProblem(trigger) ?? startProblem(variables, trigger);
    return problem === null ? [] : [{ path: `${path}/config`, message: problem, code: 'validation_error' }];
  });
}

/** The subscriptions a definition asks for, by trigger. Triggers that can't be read are left out. */
export function wantedSubscriptions(definition: Triggers): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  if (definition.isActive === false) return wanted;
  for (const trigger of definition.triggers) {
    if (trigger.enabled === false) continue;
    const asked = isQueueTrigger(trigger, definition.nodes)
      ? queueTrigger(definition.id, trigger, definition.nodes)
      : webhookTrigger(definition.id, trigger);
    if (asked) wanted.set(trigger.id, asked);
  }
  return wanted;
}

const webhookTrigger = (workflowId: string, trigger: Trigger): Wanted | null =>
  trigger.type === 'webhook' && configProblem(trigger) === null ? wantedOf(workflowId, trigger) : null;

function queueStartProblem(
  variables: Triggers['variables'],
  trigger: Trigger,
  nodes: Triggers['nodes'],
): string | null {
  return mappingProblem(variables, queueTrigger('', trigger, nodes)?.inputMapping ?? {});
}

function configProblem({ config: wanted = {} }: Trigger): string | null {
  if (config.Check(wanted)) return null;
  const [first] = config.Errors(wanted)[1];
  return `${first?.instancePath || 'config'} ${first?.message ?? 'is not valid'}`;
}

function startProblem(variables: Triggers['variables'], { config: wanted = {} }: Trigger): string | null {
  return config.Check(wanted) ? mappingProblem(variables, wanted.inputMapping ?? {}) : null;
}

function wantedOf(workflowId: string, { id, config: wanted = {} }: Trigger): Wanted {
  if (!config.Check(wanted)) throw new OpenwopError('validation_error');
  const { dedupEnabled = true, retryPolicy, verification, inputMapping = {} } = wanted;
  return {
    source: 'webhook',
    workflowId,
    dedupEnabled,
    inputMapping,
    retryPolicy: retryPolicyOf(retryPolicy),
    verification: verification?.mode ?? 'required',
    scheme: verification?.scheme ?? DEFAULT_SCHEME,
    origin: { kind: 'trigger', triggerId: id },
  };
}
