import { type Command, flag, option } from '../command.ts';

export const pause: Command = {
  name: 'pause',
  summary: 'pause a run until it is resumed',
  usage: 'pause <runId> [--now] [--reason TEXT]',
  options: {
    now: flag('do not wait for running steps'),
    reason: option('TEXT', 'kept in the log of the run'),
  },
  examples: ['gantry pause RUN', 'gantry pause RUN --now --reason "looking into it"'],
  async run({ args, io, client }) {
    const { runId, status } = await client.runs.pause(args.words[0] ?? '', {
      ...args.given('reason'),
      ...(args.flag('now') && { drainPolicy: 'immediate' }),
    });
    io.stdout.write(`${runId} ${status}\nGo on: gantry resume ${runId}\n`);
  },
};
