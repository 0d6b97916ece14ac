import { type Command, option } from '../command.ts';

export const resume: Command = {
  name: 'resume',
  summary: 'resume a paused run',
  usage: 'resume <runId> [--reason TEXT]',
  options: { reason: option('TEXT', 'kept in the log of the run') },
  examples: ['gantry resume RUN'],
  async run({ args, io, client }) {
    const { runId, status } = await client.runs.resume(args.words[0] ?? '', args.given('reason'));
    io.stdout.write(`${runId} ${status}\n`);
  },
};
