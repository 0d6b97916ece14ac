/** Converts command-line input to the value that resolves an interrupt. */
import type { Client } from '@gantry/client';
import type { Json, JsonObject, OpenInterrupt, RunSnapshot } from '@gantry/protocol';
import type { Call } from './command.ts';
import { howToAnswer, type Interrupt, oneLine, questionsOf } from './interrupt.ts';
import { UsageError } from './io.ts';
import { readPairs, readValue, shellWord, splitPair } from './values.ts';

/** Converts `name=value` words to the answer for this kind of interrupt. */
export function answerFrom(interrupt: Interrupt, pairs: readonly string[]): JsonObject {
  if (interrupt.kind === 'clarification') return { answers: clarified(interrupt, pairs) };
  const fields = readPairs(pairs, 'An answer');
  if (interrupt.kind === 'conversation.exchange') return conversationAnswer(fields);
  if (interrupt.kind !== 'external-event') return fields;
  // Run and node identify the interrupt, so its correlation need not be typed.
  return { ...Object(interrupt.data.correlation), ...fields };
}

function clarified({ data }: Interrupt, pairs: readonly string[]): JsonObject {
  const texts = new Map(pairs.map((pair) => splitPair(pair, 'An answer')));
  const asked = questionsOf(data);
  const missing = asked.filter(({ id }) => !texts.has(id));
  if (missing.length > 0) {
    const lines = missing.map(({ id, question }) => `  ${id}: ${oneLine(question)}`);
    throw new UsageError(`Questions without an answer:\n${lines.join('\n')}`);
  }
  const answers = [...texts].map(([id, text]): [string, Json] => [
    id,
    readAnswer(text, asked.find((each) => each.id === id)?.schema),
  ]);
  return Object.fromEntries(answers);
}

/** If the schema requires a string, `7` is a string. */
export const readAnswer = (text: string, schema: Json | undefined): Json =>
  Object(schema).type === 'string' ? text : readValue(text);

function conversationAnswer({ content, outcome }: JsonObject): JsonObject {
  const turn: JsonObject = content === undefined ? {} : { turn: { content } };
  if (outcome !== undefined) return { operation: 'close', outcome, ...turn };
  if (content === undefined)
    throw new UsageError('Send a turn with content=TEXT, or close the conversation with outcome=JSON.');
  return { operation: 'exchange', ...turn };
}

/** Throws unless the interrupt is answered with yes or no. */
export function checkDecidable(interrupt: Interrupt): void {
  if (interrupt.kind === 'approval' || interrupt.kind === 'low-confidence') return;
  throw new UsageError(
    `${interrupt.nodeId} does not ask for an approval. Answer it:\n${howToAnswer(interrupt).join('\n')}`,
  );
}

const suspendedNodes = ({ nodeStates = {} }: RunSnapshot): string[] =>
  Object.entries(nodeStates).flatMap(([nodeId, state]) =>
    Object(state).status === 'suspended' ? [nodeId] : [],
  );

/** Every open interrupt of a run. */
export async function interruptsOfRun(client: Client, runId: string): Promise<OpenInterrupt[]> {
  const nodes = suspendedNodes(await client.runs.get(runId));
  return Promise.all(nodes.map((nodeId) => client.interrupts.get(runId, nodeId)));
}

/** The selected interrupt: the node may be omitted if only one is open. */
export async function openInterrupt(
  client: Client,
  runId: string,
  nodeId: string | undefined,
): Promise<OpenInterrupt> {
  if (nodeId !== undefined) return client.interrupts.get(runId, nodeId);
  const snapshot = await client.runs.get(runId);
  const [only, ...others] = suspendedNodes(snapshot);
  if (only === undefined) {
    throw new UsageError(
      `${runId} has no open interrupt: it is ${snapshot.status}. Those of other runs: gantry approvals`,
    );
  }
  if (others.length === 0) return client.interrupts.get(runId, only);
  const choices = [only, ...others].map((node) => `  ${shellWord(runId)} ${shellWord(node)}`);
  throw new UsageError(`${runId} has more than one open interrupt. Name the node:\n${choices.join('\n')}`);
}

/** Sends the answer and prints the status of the run. */
export async function sendAnswer(
  { client, io }: Pick<Call, 'client' | 'io'>,
  { runId, nodeId }: Interrupt,
  resumeValue: Json,
): Promise<void> {
  const { status, changed, votes } = await client.interrupts.resolve(runId, nodeId, resumeValue);
  const progress = votes ? `, ${votes.granted} of ${votes.required} approvals` : '';
  const nothing = changed === false ? '\nNothing changed: this answer was already counted.' : '';
  const open = status.startsWith('waiting-') ? `\nStill open: gantry approvals ${runId}` : '';
  io.stdout.write(`${runId} ${status}${progress}${nothing}${open}\n`);
}
