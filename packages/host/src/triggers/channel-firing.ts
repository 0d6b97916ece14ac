/** Starts the run that a write to a channel fired. I2 of `channel-writes.ts`. */
import { InputMapping, lazyValidator, OpenwopError } from '@gantry/protocol';
import { type Change, Contended, fromEntry, type Stored } from '@gantry/resources';
import type { Entry } from '@gantry/store';
import { deadLetters } from '../dead-letters/dead-letter.ts';
import { admit, isFinal } from '../workflows/admission.ts';
import { type ChannelFiring, channelFirings } from './channel-writes.ts';
import { type DispatchOptions, triggerCaller } from './dispatch.ts';
import { mapInputs } from './input-mapping.ts';
import { retryDelayMs, retryPolicyOf } from './retry.ts';

const mapping = lazyValidator(InputMapping);

export async function fireChannel(options: DispatchOptions, entry: Entry): Promise<void> {
  const firing = fromEntry(channelFirings, entry);
  try {
    await start(options, firing);
  } catch (error) {
    if (!(error instanceof OpenwopError) || error instanceof Contended) throw error;
    await afterFailure(options, firing, error);
  }
}

async function start(options: DispatchOptions, firing: Stored<ChannelFiring>): Promise<void> {
  const { runtime, workflows } = options;
  const { workflowId, owner, triggerId, eventId, data } = firing.record;
  const workflow = await workflows.resolve(owner.tenant, workflowId);
  const trigger = workflow?.definition.triggers.find(({ id }) => id === triggerId);
  const wanted: unknown = trigger?.config?.inputMapping;
  const inputs = mapping.Check(wanted) ? mapInputs(wanted, data) : {};
  const run = await admit(workflows, owner, { workflowId, inputs });
  await runtime.create(
    { ...run, causationId: eventId, triggerData: data },
    { commit: (writes) => end(options, firing, (change) => change.add(...writes)) },
  );
}

async function afterFailure(
  options: DispatchOptions,
  firing: Stored<ChannelFiring>,
  error: OpenwopError,
): Promise<void> {
  const { changes, now, random, retentionMs } = options;
  const { workflowId, triggerId } = firing.record;
  const attempts = firing.record.attempts + 1;
  const delayMs = isFinal(error) ? null : retryDelayMs(retryPolicyOf(), attempts, random());
  if (delayMs !== null) {
    const next = { ...firing.record, attempts, dueAt: now() + delayMs };
    await changes.run(triggerCaller(firing.tenant), (change) => change.replaceUnchanged(firing, next));
    return;
  }
  const reason = isFinal(error) ? error.code : 'retry-exhausted';
  const about = { workflowId, deliveryId: firing.id, triggerId, reason, attempts };
  await end(options, firing, (change) => {
    change.create(deadLetters, { type: 'delivery', ...about, until: now() + retentionMs });
  });
}

/** False when it has changed since it was read. */
const end = (
  { changes }: DispatchOptions,
  firing: Stored<ChannelFiring>,
  become: (change: Change) => void,
): Promise<boolean> =>
  changes.run(triggerCaller(firing.tenant), async (change) => {
    if (!(await change.deleteUnchanged(firing))) return false;
    become(change);
    return true;
  });
