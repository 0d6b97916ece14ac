import type { InterruptLink, OpenInterrupt } from '@gantry/protocol';
import { interruptsOfRun, openInterrupt } from '../answer.ts';
import { type Call, type Command, flag, option } from '../command.ts';
import { howToAnswer, renderInterrupt } from '../interrupt.ts';
import { UsageError } from '../io.ts';
import { print } from '../output.ts';
import { duration, printable, type Style } from '../style.ts';

export const approvals: Command = {
  name: 'approvals',
  summary: 'list open interrupts, and make links to answer them',
  usage:
    'approvals [runId] [--limit N] [--before CURSOR] | link <runId> [node] --for NAME ... [--revoke] [--json]',
  details:
    'Approvals, clarifications and every other open interrupt, with the command that answers it. `link` prints an\n' +
    'address for each person, who can answer there without a key, in that name; --revoke withdraws the links of that\n' +
    'person. It needs the scope approvals:link.',
  options: {
    limit: option('N', 'interrupts of how many runs, 1 to 200 (20)'),
    before: option('CURSOR', 'continue after an earlier page'),
    for: option('NAME', 'link: the person who will answer', { multiple: true }),
    revoke: flag('link: withdraw the links of the person'),
    json: flag('print JSON'),
  },
  examples: [
    'gantry approvals',
    'gantry approvals RUN',
    'gantry approvals link RUN --for ada@example.org --for bob@example.org',
    'gantry approvals link RUN --for ada@example.org --revoke',
  ],
  words: { min: 0, max: 3 },
  async run(call) {
    const { args, io, style, client } = call;
    const [runId, ...others] = args.words;
    if (runId === 'link') return link(call, others);
    if (others.length > 0) throw new UsageError('Name one run, or: gantry approvals link RUN --for NAME');
    if (args.list('for').length > 0 || args.flag('revoke'))
      throw new UsageError('--for and --revoke are for: gantry approvals link RUN');
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

async function link(call: Call, [runId, node]: readonly string[]): Promise<void> {
  const { args, client, style } = call;
  const people = args.list('for');
  if (runId === undefined || people.length === 0)
    throw new UsageError('Name the run and the person: gantry approvals link RUN --for NAME');
  const { nodeId } = await openInterrupt(client, runId, node);
  if (args.flag('revoke')) {
    for (const person of people) await client.interrupts.revokeLinks(runId, nodeId, person);
    return print(
      call,
      { revoked: people },
      people.map((person) => `${printable(person)} revoked\n`).join(''),
    );
  }
  const links: InterruptLink[] = [];
  for (const person of people) links.push(await client.interrupts.link(runId, nodeId, person));
  const lines = links.map(({ person, url, expiresAt }) => {
    const until = style('dim', `until ${printable(expiresAt)}`);
    return `${printable(person)} ${until}\n  ${printable(url)}\n`;
  });
  print(call, { links }, lines.join(''));
}

function renderOpen(interrupt: OpenInterrupt, now: number, style: Style): string {
  const { workflowId, runId, nodeId, requestedAt } = interrupt;
  const age = duration(now - Date.parse(requestedAt));
  const where = style('dim', printable(`${workflowId} ${runId} ${nodeId}, waits for ${age}`));
  const [heading = '', ...more] = renderInterrupt(interrupt, now, style);
  const typed = howToAnswer(interrupt).map((command) => `  ${style('cyan', printable(command))}`);
  return [`${heading}  ${where}`, ...more, ...typed].map((line) => `${line}\n`).join('');
}
