/** Starts the run that a write to a channel fired. I2 of `channel-writes.ts`. */
import { inheritedTrust } from '@gantry/engine';
import type { Stored } from '@gantry/resources';
import { deadLetters } from '../dead-letters/dead-letter.ts';
import { admit } from '../workflows/admission.ts';
import type { ChannelFiring } from './channel-writes.ts';
import { mappingOf } from './definition-triggers.ts';
import { type DispatchOptions, TRIGGERS } from './dispatch.ts';
import { mapInputs } from './input-mapping.ts';
import { failureOf, retryPolicyOf } from './retry.ts';

export async function fireChannel(options: DispatchOptions, firing: Stored<ChannelFiring>): Promise<void> {
  try {
    await start(options, firing);
  } catch (error) {
    await afterFailure(options, firing, error);
  }
}

async function start(options: DispatchOptions, firing: Stored<ChannelFiring>): Promise<void> {
  const { changes, runtime, workflows } = options;
  const { workflowId, owner, triggerId, eventId, data } = firing.record;
  const workflow = await workflows.resolve(owner.tenant, workflowId);
  const trigger = workflow?.definition.triggers.find(({ id }) => id === triggerId);
  const inputs = trigger ? mapInputs(mappingOf(trigger), data) : {};
  const run = await admit(workflows, owner, { workflowId, inputs });
  await runtime.create(
    { ...run, causationId: eventId, triggerData: data, ...inheritedTrust(firing.record) },
    { commit: (writes) => changes.settle(TRIGGERS, firing, null, (change) => change.add(...writes)) },
  );
}

async function afterFailure(
  { changes, now, random, retentionMs }: DispatchOptions,
  firing: Stored<ChannelFiring>,
  error: unknown,
): Promise<void> {
  const { workflowId, triggerId } = firing.record;
  const attempts = firing.record.attempts + 1;
  const failure = failureOf(error, retryPolicyOf(), attempts, random());
  if (failure.kind === 'again') {
    const next = { ...firing.record, attempts, dueAt: now() + failure.delayMs };
    await changes.settle(TRIGGERS, firing, next);
    return;
  }
  const about = { workflowId, deliveryId: firing.id, triggerId, reason: failure.reason, attempts };
  await changes.settle(TRIGGERS, firing, null, (change) =>
    change.create(deadLetters, { type: 'delivery', ...about, until: now() + retentionMs }),
  );
}
