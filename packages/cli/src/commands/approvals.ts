import type { OpenInterrupt } from '@gantry/protocol';
import { interruptsOfRun } from '../answer.ts';
import { type Command, flag, option } from '../command.ts';
import { howToAnswer, renderInterrupt } from '../interrupt.ts';
import { print } from '../output.ts';
import { duration, printable, type Style } from '../style.ts';

export const approvals: Command = {
  name: 'approvals',
  summary: 'show what runs wait for people to answer',
  usage: 'approvals [runId] [--limit N] [--before CURSOR] [--json]',
  details: 'Approvals, clarifications and every other open interrupt, with what to type to answer it.',
  options: {
    limit: option('N', 'interrupts of how many runs, 1 to 200 (20)'),
    before: option('CURSOR', 'go on where an earlier page ended'),
    json: flag('print JSON'),
  },
  examples: ['gantry approvals', 'gantry approvals RUN'],
  words: { min: 0, max: 1 },
  async run(call) {
    const { args, io, style, client } = call;
    const [runId] = args.words;
    const limit = args.whole('limit', 1, 200) ?? 20;
    const page =
      runId === undefined
        ? await client.interrupts.list({ limit, ...args.given('before') })
        : { interrupts: await interruptsOfRun(client, runId) };
    const blocks = page.interrupts.map((interrupt) => renderOpen(interrupt, io.now(), style));
    const shown = blocks.length === 0 ? 'Nothing waits for an answer.\n' : blocks.join('\n');
    const more = 'nextBefore' in page ? `\nMore: gantry approvals --before ${page.nextBefore}\n` : '';
    print(call, page, `${shown}${more}`);
  },
};

function renderOpen(interrupt: OpenInterrupt, now: number, style: Style): string {
  const { workflowId, runId, nodeId, requestedAt } = interrupt;
  const age = duration(now - Date.parse(requestedAt));
  const where = style('dim', printable(`${workflowId} ${runId} ${nodeId}, waits for ${age}`));
  const [heading = '', ...more] = renderInterrupt(interrupt, now, style);
  const typed = howToAnswer(interrupt).map((command) => `  ${style('cyan', printable(command))}`);
  return [`${heading}  ${where}`, ...more, ...typed].map((line) => `${line}\n`).join('');
}
