import { type Client, endsRun, type StreamEvent } from '@gantry/client';
import type { Call } from './command.ts';
import { EXIT } from './io.ts';
import { createOffers } from './offers.ts';
import { createPainter } from './painter.ts';
import { advance, emptyView, renderLine, renderLive } from './run-view.ts';
import { duration, printable, type Style } from './style.ts';

const FRAME_MS = 100;

/** How a run ended, from its last event. */
export interface RunEnd {
  readonly exitCode: number;
  readonly event: StreamEvent;
}

/** Shows a run line by line until it ends. */
export async function watchRun(
  { client, io, style }: Pick<Call, 'client' | 'io' | 'style'>,
  runId: string,
  names: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<RunEnd | undefined> {
  const painter = createPainter(io.stdout);
  const offers = createOffers({ client, io, style }, painter, signal);
  let view = emptyView(names);
  let tick = 0;
  const draw = () =>
    painter.live(renderLive(view, { now: io.now(), tick: tick++, columns: io.stdout.columns }, style));
  const animation = io.stdout.isTTY ? setInterval(draw, FRAME_MS) : undefined;
  try {
    for await (const event of client.runs.events(runId, { streamMode: 'debug', signal })) {
      const step = advance(view, event);
      view = step.view;
      if (step.lines.length > 0) painter.print(step.lines.map((line) => renderLine(view, line, style)));
      offers.see(event);
      if (animation) draw();
      if (endsRun(event)) return { exitCode: exitCodeOf(event), event };
    }
    return undefined;
  } finally {
    clearInterval(animation);
    await offers.close();
    painter.close();
  }
}

/** One event per line, as JSON. */
export async function printEvents(
  { client, io }: Pick<Call, 'client' | 'io'>,
  runId: string,
  signal: AbortSignal,
): Promise<RunEnd | undefined> {
  for await (const event of client.runs.events(runId, { streamMode: 'debug', signal })) {
    io.stdout.write(`${JSON.stringify(event)}\n`);
    if (endsRun(event)) return { exitCode: exitCodeOf(event), event };
  }
  return undefined;
}

function exitCodeOf({ type }: StreamEvent): number {
  if (type === 'run.completed') return EXIT.ok;
  return type === 'run.cancelled' ? EXIT.cancelled : EXIT.failed;
}

/** The final lines about a run. */
export function renderEnd(runId: string, { event }: RunEnd, style: Style): string {
  const { payload } = event;
  const took = typeof payload.durationMs === 'number' ? ` in ${duration(payload.durationMs)}` : '';
  if (event.type === 'run.completed')
    return `${style('green', 'completed')}${took}\n${outputsOf(payload.outputs)}`;
  if (event.type === 'run.cancelled') {
    const reason = typeof payload.reason === 'string' ? `: ${printable(payload.reason)}` : '';
    return `${style('yellow', 'cancelled')}${took}${reason}\n`;
  }
  const error = Object(payload.error);
  return (
    `${style('red', 'failed')}${took}: ${printable(`${error.code ?? 'error'}: ${error.message ?? ''}`)}\n` +
    `Why: gantry explain ${runId}\n`
  );
}

function outputsOf(outputs: unknown): string {
  if (typeof outputs !== 'object' || outputs === null || Object.keys(outputs).length === 0) return '';
  return `${JSON.stringify(outputs, null, 2)}\n`;
}

/** Node names by id. A key that may not read definitions can still watch: it sees ids. */
export async function nodeNames(client: Client, workflowId: string): Promise<Record<string, string>> {
  try {
    const { nodes } = await client.workflows.get(workflowId);
    return Object.fromEntries(nodes.map(({ id, name }) => [id, name]));
  } catch {
    return {};
  }
}
