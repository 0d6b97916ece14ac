import { type Command, option } from '../command.ts';

export const cancel: Command = {
  name: 'cancel',
  summary: 'cancel a run',
  usage: 'cancel <runId> [--reason TEXT]',
  options: { reason: option('TEXT', 'kept in the log of the run') },
  examples: ['gantry cancel RUN --reason "wrong input"'],
  async run({ args, io, client }) {
    const { runId, status } = await client.runs.cancel(args.words[0] ?? '', args.given('reason'));
    const late = status === 'completed' || status === 'failed';
    io.stdout.write(late ? `${runId} had already ${status}\n` : `${runId} ${status}\n`);
  },
};
