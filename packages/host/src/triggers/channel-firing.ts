/** Starts the run that a write to a channel fired. I2 of `channel-writes.ts`. */
import { InputMapping, OpenwopError } from '@gantry/protocol';
import type { Entry, Write } from '@gantry/store';
import { Compile } from 'typebox/compile';
import { deadLetterWrite } from '../dead-letters/dead-letter.ts';
import { admit, isFinal } from '../workflows/admission.ts';
import { type ChannelFiring, firingWrite } from './channel-writes.ts';
import type { DispatchOptions } from './dispatch.ts';
import { mapInputs } from './input-mapping.ts';
import { retryDelayMs, retryPolicyOf } from './retry.ts';

const mapping = Compile(InputMapping);

export async function fireChannel(options: DispatchOptions, entry: Entry): Promise<void> {
  const firing: ChannelFiring = JSON.parse(entry.body);
  const attempted = { ...firing, attempts: firing.attempts + 1 };
  try {
    await start(options, entry, firing);
  } catch (error) {
    if (!(error instanceof OpenwopError)) throw error;
    await options.store.commit([afterFailure(options, entry, attempted, error)]);
  }
}

async function start(options: DispatchOptions, entry: Entry, firing: ChannelFiring): Promise<void> {
  const { runtime, workflows } = options;
  const { workflowId, owner, triggerId, eventId, data } = firing;
  const workflow = await workflows.resolve(owner.tenant, workflowId);
  const trigger = workflow?.definition.triggers.find(({ id }) => id === triggerId);
  const wanted: unknown = trigger?.config?.inputMapping;
  const inputs = mapping.Check(wanted) ? mapInputs(wanted, data) : {};
  const request = { workflowId, inputs, configurable: {}, tags: [], metadata: {} };
  const run = await admit(workflows, owner, request);
  await runtime.create(
    { ...run, causationId: eventId, triggerData: data },
    { writes: () => [removal(entry)] },
  );
}

function afterFailure(
  { office, now, random }: DispatchOptions,
  entry: Entry,
  firing: ChannelFiring,
  error: OpenwopError,
): Write[] {
  const { workflowId, triggerId, attempts } = firing;
  const delayMs = isFinal(error) ? null : retryDelayMs(retryPolicyOf(), attempts, random());
  if (delayMs !== null) return [firingWrite(entry, firing, now() + delayMs, entry)];
  const reason = isFinal(error) ? error.code : 'retry-exhausted';
  const letter = { type: 'delivery', workflowId, deliveryId: entry.id, triggerId, reason, attempts } as const;
  return [removal(entry), deadLetterWrite(office, entry.tenant, letter)];
}

const removal = ({ kind, tenant, id, version }: Entry): Write => ({
  kind: 'deleteEntry',
  key: { kind, tenant, id },
  expectedVersion: version,
});
