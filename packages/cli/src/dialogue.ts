/** Asks the user at the terminal to answer an interrupt. */
import type { Json, JsonObject } from '@gantry/protocol';
import { readAnswer } from './answer.ts';
import { type Interrupt, questionsOf, textsAt } from './interrupt.ts';
import { printable } from './style.ts';

/** Undefined: no answer now. */
export type Ask = (prompt: string) => Promise<string | undefined>;

/** The letter of each action, and the text that it requires. */
const DECISIONS: Readonly<
  Record<string, { letter: string; label: string; why?: string; value: (text: string) => JsonObject }>
> = {
  accept: { letter: 'a', label: '[a]pprove', value: () => ({ action: 'accept' }) },
  reject: {
    letter: 'r',
    label: '[r]eject',
    why: 'Why?',
    value: (reason) => ({ action: 'reject', reason }),
  },
  refine: {
    letter: 'c',
    label: 'ask for [c]hanges',
    why: 'What should change?',
    value: (text) => ({ action: 'refine', refineFeedback: { scope: 'whole', text } }),
  },
  ask: {
    letter: 'q',
    label: 'ask a [q]uestion',
    why: 'What do you want to know?',
    value: (question) => ({ action: 'ask', question }),
  },
};

const offeredBy = ({ kind, data }: Interrupt): string[] =>
  kind === 'low-confidence' ? ['accept', 'reject'] : textsAt(data, 'actions');

/** Whether a user at a terminal can answer it line by line. External events are answered by machines. */
export function isAnswerable(interrupt: Interrupt): boolean {
  if (interrupt.kind === 'clarification') return questionsOf(interrupt.data).length > 0;
  const decides = interrupt.kind === 'approval' || interrupt.kind === 'low-confidence';
  return decides && offeredBy(interrupt).some((action) => Object.hasOwn(DECISIONS, action));
}

export const converse = (interrupt: Interrupt, ask: Ask): Promise<Json | undefined> =>
  interrupt.kind === 'clarification' ? clarify(interrupt, ask) : decide(interrupt, ask);

async function decide(interrupt: Interrupt, ask: Ask): Promise<Json | undefined> {
  const choices = offeredBy(interrupt).flatMap((action) => DECISIONS[action] ?? []);
  const prompt = `${choices.map(({ label }) => label).join(', ')} or [l]ater? `;
  for (;;) {
    const typed = (await ask(prompt))?.trim().toLowerCase();
    if (typed === undefined || typed === 'l' || typed === 'later') return undefined;
    const choice = choices.find(({ letter }) => letter === typed);
    if (!choice) continue;
    if (choice.why === undefined) return choice.value('');
    const text = (await ask(`${choice.why} `))?.trim();
    if (text) return choice.value(text);
  }
}

async function clarify({ data }: Interrupt, ask: Ask): Promise<Json | undefined> {
  const answers: JsonObject = {};
  for (const { id, question, schema } of questionsOf(data)) {
    const text = (await ask(`${printable(question)} (empty: later) `))?.trim();
    if (!text) return undefined;
    answers[id] = readAnswer(text, schema);
  }
  return { answers };
}
