import { given, isTerminal, type JsonObject } from '@gantry/protocol';
import { accessRefusal } from '../channels/access.ts';
import { unknownChannel, writeTo } from '../channels/write.ts';
import type { Command } from '../command.ts';
import type { PlanChannel } from '../plan.ts';
import type { Refusal, Step } from '../step.ts';

type WriteChannel = Extract<Command, { type: 'writeChannel' }>;

/** Writes with these reducers give the same value in any order. */
const SHARED_REDUCERS: ReadonlySet<string> = new Set(['append', 'counter', 'votes', 'feedback']);

/** The write is ordered by the log of this run, whenever the writer made it. */
export function writeChannel(step: Step, command: WriteChannel): void {
  const refusal = statusRefusal(step) ?? attempt(step, command);
  if (refusal) step.refusal = refusal;
}

/** No event may occur between `run.paused` and `run.resumed`, so a paused run refuses writes until it is resumed. */
function statusRefusal({ run: { status } }: Step): Refusal | undefined {
  if (status === 'running') return;
  if (isTerminal(status))
    return { code: 'run_terminal', message: 'The run has ended and accepts no more writes.' };
  return {
    code: 'conflict',
    message: `The run is ${status}; write again when it runs.`,
    details: { runStatus: status },
  };
}

function attempt(step: Step, command: WriteChannel): Refusal | undefined {
  const channel = step.plan.channels.get(command.channel);
  if (!channel) return unknownChannel(command.channel);
  const source = sourceOf(command);
  return (
    accessRefusal(channel, 'writers', undefined, source) ??
    sharingRefusal(channel, source) ??
    writeTo(step, channel, command.value, { ...source, ...(command.fromTrigger && { fromTrigger: true }) })
  );
}

const sourceOf = ({ sourceRunId, sourceEngineId }: WriteChannel) => given({ sourceRunId, sourceEngineId });

function sharingRefusal({ name, declaration }: PlanChannel, source: JsonObject): Refusal | undefined {
  const { reducer } = declaration;
  if (SHARED_REDUCERS.has(reducer) || Object.keys(source).length === 0) return;
  return {
    code: 'channel_cross_engine_write_forbidden',
    message: `The channel ${name} is a ${reducer} channel, and accepts writes from its own run only.`,
    details: { channel: name, reducer, ...source },
  };
}
