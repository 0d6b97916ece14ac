/** Triggers of workflow definitions as subscriptions, and triggers that this host does not support. Pure. */
import { InputMapping, lazyValidator, WebhookTriggerConfig, type WorkflowDefinition } from '@gantry/protocol';
import { configProblem } from './definition-sync.ts';
import { mappingProblem } from './input-mapping.ts';
import { isQueueTrigger, queueTrigger, queueTriggerProblem } from './queue-source/registration.ts';
import { ingestWanted, type Wanted } from './trigger.ts';

const config = lazyValidator(WebhookTriggerConfig);
/** Trigger types that this host does not support. */
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
    const isQueue = isQueueTrigger(trigger, nodes);
    if (!isQueue && UNSERVED.has(trigger.type) && trigger.enabled !== false) {
      const message = `This host starts no runs from triggers of type ${trigger.type}`;
      return [{ path: `${path}/type`, message, code: 'capability_required' }];
    }
    const code = 'validation_error';
    const source = isQueue ? 'queue' : MAPPED.find((type) => type === trigger.type);
    if (source === undefined) return [];
    const message = isQueue
      ? queueTriggerProblem(trigger, nodes)
      : source === 'webhook' && configProblem(config, trigger.config ?? {});
    if (message) return [{ path: `${path}/config`, message, code }];
    const found = mappingProblem(variables, mappingOf(trigger), source);
    const at = `${path}/config/inputMapping`;
    return found ? [{ path: `${at}/${found.variable}`, message: found.problem, code }] : [];
  });
}

const MAPPED = ['webhook', 'channel-write'] as const;
const mapping = lazyValidator(InputMapping);

/** A mapping that cannot be read sets nothing. */
export const mappingOf = ({ config }: Pick<Trigger, 'config'>): InputMapping =>
  mapping.Check(config?.inputMapping) ? config.inputMapping : {};

/** The subscriptions a definition asks for, by trigger. Triggers that cannot be read are left out. */
export function wantedSubscriptions(definition: Triggers): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  if (definition.isActive === false) return wanted;
  for (const trigger of definition.triggers) {
    const asked = trigger.enabled === false ? null : wantedBy(definition, trigger);
    if (asked) wanted.set(trigger.id, asked);
  }
  return wanted;
}

function wantedBy(
  { id: workflowId, nodes }: Pick<Triggers, 'id' | 'nodes'>,
  trigger: Trigger,
): Wanted | null {
  if (isQueueTrigger(trigger, nodes)) return queueTrigger(workflowId, trigger, nodes);
  const { id: triggerId, type, config: asked = {} } = trigger;
  if (type !== 'webhook' || !config.Check(asked)) return null;
  const origin = { kind: 'trigger', triggerId } as const;
  return ingestWanted({ source: 'webhook', workflowId, origin }, asked);
}
