import { checkDecidable, openInterrupt, sendAnswer } from '../answer.ts';
import { type Command, option } from '../command.ts';

export const approve: Command = {
  name: 'approve',
  summary: 'approve an open interrupt of a run',
  usage: 'approve <runId> [node] [--comment TEXT]',
  details: 'The node may be left out when the run has only one open interrupt.',
  options: { comment: option('TEXT', 'kept in the log of the run') },
  examples: ['gantry approve RUN', 'gantry approve RUN review --comment "looks good"'],
  async run(call) {
    const [runId = '', nodeId] = call.args.words;
    const interrupt = await openInterrupt(call.client, runId, nodeId);
    checkDecidable(interrupt);
    return sendAnswer(call, interrupt, { action: 'accept', ...call.args.given('comment') });
  },
};
