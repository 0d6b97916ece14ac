import { answerFrom, openInterrupt, sendAnswer } from '../answer.ts';
import { type Command, option } from '../command.ts';
import { howToAnswer } from '../interrupt.ts';
import { UsageError } from '../io.ts';
import { parseJson } from '../values.ts';

const PAIRS_MAX = 100;

export const answer: Command = {
  name: 'answer',
  summary: 'answer an open interrupt of a run',
  usage: 'answer <runId> [node] name=value ... | --json VALUE',
  details:
    'The node may be left out when the run has only one open interrupt. A value is read as JSON when it is\n' +
    'JSON, else as text. Where a gate says `distinctVoters: false`, name the voter: action=accept voter=ada',
  options: { json: option('VALUE', 'the whole answer as JSON, sent as it is') },
  examples: [
    'gantry answer RUN city="Zürich" days=7',
    'gantry answer RUN payment status=paid',
    `gantry answer RUN review --json '{"action":"edit-accept","editedArtifactData":{"total":3}}'`,
  ],
  words: { min: 1, max: 2 + PAIRS_MAX },
  async run(call) {
    const [runId = '', ...rest] = call.args.words;
    const nodeId = rest[0]?.includes('=') ? undefined : rest.shift();
    const json = call.args.text('json');
    if (json !== undefined && rest.length > 0)
      throw new UsageError('Use name=value words or --json, not both.');
    const whole = json === undefined ? undefined : parseJson(json, '--json');
    const interrupt = await openInterrupt(call.client, runId, nodeId);
    if (whole !== undefined) return sendAnswer(call, interrupt, whole);
    if (rest.length === 0) throw new UsageError(`Give an answer:\n${howToAnswer(interrupt).join('\n')}`);
    return sendAnswer(call, interrupt, answerFrom(interrupt, rest));
  },
};
