import type { ForkRunRequest } from '@gantry/protocol';
import type { Args } from '../args.ts';
import { type Command, flag, option } from '../command.ts';
import { UsageError } from '../io.ts';
import { print } from '../output.ts';
import { readPairs } from '../values.ts';

export const fork: Command = {
  name: 'fork',
  summary: 'replay or branch a run',
  usage: 'fork <runId> [--at N] [--replay | --branch] [--set k=v]... [--json]',
  details:
    'A replay repeats recorded results without external effects: it shows whether the run takes the same path.\n' +
    'A branch keeps the first N events and continues from there, with new effects.\n' +
    'Without --replay or --branch: a branch if --at or --set is given, else a replay of the whole run.',
  options: {
    at: option('N', 'keep the first N events; `gantry events` numbers them from 0'),
    replay: flag('repeat recorded results'),
    branch: flag('continue from an event; needs --at'),
    set: option('K=V', 'branch: another value of `configurable`; may be repeated', { multiple: true }),
    json: flag('print JSON'),
  },
  examples: ['gantry fork RUN', 'gantry fork RUN --at 12', 'gantry fork RUN --at 12 --set model=small'],
  async run(call) {
    const made = await call.client.runs.fork(call.args.words[0] ?? '', readRequest(call.args));
    const { runId, sourceRunId, status } = made;
    const hasEnded = status === 'completed' || status === 'failed';
    const watch = hasEnded ? '' : `\nWatch it: gantry events ${runId} --follow`;
    print(call, made, `${runId}\n${status}. Compare: gantry diff ${sourceRunId} ${runId}${watch}\n`);
  },
};

function readRequest(args: Args): ForkRunRequest {
  const fromSeq = args.whole('at', 0, Number.MAX_SAFE_INTEGER);
  const pairs = args.list('set');
  if (args.flag('replay') && args.flag('branch'))
    throw new UsageError('Choose --replay or --branch, not both.');
  const wantsBranch =
    args.flag('branch') || (!args.flag('replay') && (fromSeq !== undefined || pairs.length > 0));
  if (!wantsBranch) {
    if (pairs.length > 0) throw new UsageError('A replay changes nothing; use --set with --branch.');
    return { mode: 'replay', ...(fromSeq !== undefined && { fromSeq }) };
  }
  if (fromSeq === undefined) {
    throw new UsageError('A branch needs --at N: how many events to keep. See them with `gantry events`.');
  }
  const configurable = readPairs(pairs, '--set');
  return { mode: 'branch', fromSeq, ...(pairs.length > 0 && { runOptionsOverlay: { configurable } }) };
}
