import type { Client } from '@gantry/client';
import type { Command } from '../command.ts';
import { printable, type Style } from '../style.ts';
import { recorded } from './events.ts';

const RUNS_MAX = 200;
const DEPTH_MAX = 32;

export const tree: Command = {
  name: 'tree',
  summary: 'show the parents and children of a run',
  usage: 'tree <runId>',
  options: {},
  examples: ['gantry tree RUN'],
  async run({ args, io, style, client }) {
    const runId = args.words[0] ?? '';
    const root = await rootOf(client, runId);
    const climb: Climb = { client, signal: io.signal, style, marked: runId, left: RUNS_MAX };
    const lines = await linesOf(climb, root, 0);
    const cut = climb.left > 0 ? [] : [`Only the first ${RUNS_MAX} runs are shown.`];
    io.stdout.write([...lines, ...cut].map((line) => `${line}\n`).join(''));
  },
};

async function rootOf(client: Client, runId: string): Promise<string> {
  let root = runId;
  for (let height = 0; height < DEPTH_MAX; height++) {
    const { parent } = await client.runs.ancestry(root);
    if (!parent) return root;
    root = parent.runId;
  }
  return root;
}

interface Climb {
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly style: Style;
  /** The requested run. */
  readonly marked: string;
  /** Runs that may still be shown. */
  left: number;
}

async function linesOf(climb: Climb, runId: string, depth: number): Promise<string[]> {
  if (climb.left <= 0) return [];
  climb.left--;
  const { workflowId, status } = await climb.client.runs.get(runId);
  const text = printable(`${runId} ${workflowId} ${status}`);
  const line = `${'  '.repeat(depth)}${runId === climb.marked ? climb.style('bold', text) : text}`;
  if (depth >= DEPTH_MAX) return [line];
  const below: string[] = [];
  for (const child of await childrenOf(climb, runId)) below.push(...(await linesOf(climb, child, depth + 1)));
  return [line, ...below];
}

/** In the order in which they were started. */
async function childrenOf({ client, signal }: Climb, runId: string): Promise<string[]> {
  const children: string[] = [];
  for await (const { type, payload } of recorded(client, runId, signal)) {
    if (type === 'node.dispatched' && typeof payload.childRunId === 'string')
      children.push(payload.childRunId);
  }
  return [...new Set(children)];
}
