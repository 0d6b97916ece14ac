import { type Command, option } from '../command.ts';
import { EXIT } from '../io.ts';

export const resume: Command = {
  name: 'resume',
  summary: 'let a paused run go on',
  usage: 'resume <runId> [--reason TEXT]',
  options: { reason: option('TEXT', 'kept in the log of the run') },
  examples: ['gantry resume RUN'],
  words: { min: 1, max: 1 },
  async run({ args, io, client }) {
    const reason = args.text('reason');
    const { runId, status } = await client.runs.resume(
      args.words[0] ?? '',
      reason === undefined ? {} : { reason },
    );
    io.stdout.write(`${runId} ${status}\n`);
    return EXIT.ok;
  },
};
