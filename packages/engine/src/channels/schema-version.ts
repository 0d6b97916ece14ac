import { eventId, type Json } from '@gantry/protocol';
import type { PlanChannel } from '../plan.ts';
import type { ChannelState, Run } from '../run.ts';
import type { Refusal } from '../step.ts';
import { boundsOf, contentOf, isList } from './reducer.ts';

/**
 * Why what the channel holds cannot be used under today's schema: older writes count only where the
 * declaration vouches for their version, and only if they fit. Newer ones are taken as they are.
 */
export function schemaBreak(channel: PlanChannel, run: Run): Refusal | undefined {
  const { name, declaration } = channel;
  const current = declaration.schemaVersion ?? 1;
  const state = run.channels[name];
  if (!state || state.schemaVersion >= current) return;
  const vouched = declaration.compatibleWith?.includes(state.schemaVersion) === true;
  if (vouched && writesOf(channel, state).every((value) => !channel.check?.(value))) return;
  return {
    code: 'channel_schema_breaking_change',
    message: `The channel ${name} holds values of schema version ${state.schemaVersion} that version ${current} cannot read.`,
    details: {
      channel: name,
      currentSchemaVersion: current,
      incompatibleEventVersion: state.schemaVersion,
      incompatibleEventId: eventId(run.facts.runId, state.schemaSeq),
      migrationHint: vouched
        ? 'Declare a new channel, and copy the values into it.'
        : `List ${state.schemaVersion} in compatibleWith if the new schema reads it, else declare a new channel.`,
    },
  };
}

/** The entries of a list are its writes; of other channels only the outcome is left. */
function writesOf({ declaration }: PlanChannel, { value }: ChannelState): readonly Json[] {
  if (!isList(declaration.reducer) || !Array.isArray(value)) return [value];
  const bounds = boundsOf(declaration);
  return value.map((entry) => contentOf(entry, bounds) ?? null);
}
