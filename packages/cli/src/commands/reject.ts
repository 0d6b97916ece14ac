import { checkDecidable, openInterrupt, sendAnswer } from '../answer.ts';
import { type Command, option } from '../command.ts';
import { UsageError } from '../io.ts';

export const reject: Command = {
  name: 'reject',
  summary: 'reject an open interrupt of a run',
  usage: 'reject <runId> [node] --reason TEXT',
  details: 'The node may be left out when the run has only one open interrupt.',
  options: { reason: option('TEXT', 'why; kept in the log of the run') },
  examples: ['gantry reject RUN --reason "the numbers are last month\'s"'],
  async run(call) {
    const [runId = '', nodeId] = call.args.words;
    const reason = call.args.text('reason');
    if (!reason) throw new UsageError('A reason is required: --reason TEXT');
    const interrupt = await openInterrupt(call.client, runId, nodeId);
    checkDecidable(interrupt);
    return sendAnswer(call, interrupt, { action: 'reject', reason });
  },
};
