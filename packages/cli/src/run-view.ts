/** The view of a watched run: a line per finished step, and the running steps. Pure. */
import type { StreamEvent } from '@gantry/client';
import type { JsonObject } from '@gantry/protocol';
import { locationsOf } from './code-location.ts';
import { type Colour, duration, printable, type Style } from './style.ts';

type Mark = 'done' | 'failed' | 'skipped' | 'retry' | 'waiting' | 'note';

export interface Line {
  readonly mark: Mark;
  readonly name: string;
  readonly durationMs?: number | undefined;
  readonly note?: string | undefined;
}

export interface RunView {
  /** Names of nodes by id, from the definition. */
  readonly names: Readonly<Record<string, string>>;
  /** Start time of each running node. */
  readonly running: ReadonlyMap<string, number>;
  /** The reason why the whole run waits, if it does. */
  readonly waiting?: string | undefined;
}

export const emptyView = (names: Readonly<Record<string, string>> = {}): RunView => ({
  names,
  running: new Map(),
});

const GLYPHS: Record<Mark, readonly [Colour, string]> = {
  done: ['green', '✓'],
  failed: ['red', '✗'],
  skipped: ['dim', '-'],
  retry: ['yellow', '↻'],
  waiting: ['yellow', '…'],
  note: ['dim', '·'],
};
const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const LIVE_LINES_MAX = 10;
const NAME_WIDTH_MAX = 32;

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

function errorText(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { code, message, details } = value as JsonObject;
  const [location] = locationsOf(Object(details));
  const said = [text(code), text(message)].filter(Boolean).join(': ');
  return location === undefined ? said : `${said} (at ${location})`;
}

/** The finished line for each event, from its payload and the duration of the node. */
const LINES: Readonly<
  Record<string, (payload: JsonObject, name: string, elapsedMs: number | undefined) => Line>
> = {
  'node.completed': (payload, name, elapsedMs) => ({
    mark: 'done',
    name,
    durationMs: number(payload.durationMs) ?? elapsedMs,
  }),
  'node.failed': (payload, name, durationMs) => ({
    mark: 'failed',
    name,
    durationMs,
    note: errorText(payload.error),
  }),
  'node.retried': (payload, name) => ({ mark: 'retry', name, note: retryNote(payload) }),
  'node.skipped': (payload, name) => ({ mark: 'skipped', name, note: text(payload.reason) ?? 'skipped' }),
  'node.cancelled': (payload, name) => ({ mark: 'skipped', name, note: text(payload.reason) ?? 'cancelled' }),
  'node.suspended': (payload, name) => ({ mark: 'waiting', name, note: `waits for ${waitsFor(payload)}` }),
  'interrupt.resolved': (payload, name) => ({
    mark: 'note',
    name,
    note: `answered by ${text(payload.resolvedBy) ?? 'someone'}`,
  }),
  'node.dispatched': (payload, name) => ({
    mark: 'note',
    name,
    note: `started run ${text(payload.childRunId) ?? ''}`,
  }),
  'run.paused': (payload) => ({ mark: 'waiting', name: 'paused', note: text(payload.reason) }),
  'run.resumed': (payload) => ({ mark: 'note', name: 'resumed', note: text(payload.reason) }),
  'log.appended': (payload, name) => ({ mark: 'note', name, note: text(payload.message) }),
  'cap.breached': (payload) => ({
    mark: 'failed',
    name: `limit ${text(payload.kind) ?? ''}`,
    note: `${number(payload.observed)} of ${number(payload.limit)}`,
  }),
};

/** The line for an event, if it has words for it. */
export const lineOf = (type: string, payload: JsonObject, name = ''): Line | undefined =>
  Object.hasOwn(LINES, type) ? LINES[type]?.(payload, name, undefined) : undefined;

function retryNote(payload: JsonObject): string {
  const delayMs = number(payload.delayMs);
  const attempt = `attempt ${(number(payload.attempt) ?? 0) + 1}${delayMs ? ` in ${duration(delayMs)}` : ''}`;
  return [attempt, errorText(payload.lastError)].filter(Boolean).join('; ');
}

const waitsFor = (payload: JsonObject): string => text(payload.kind) ?? 'an answer';

/** Folds one event: the new view, and the lines that are now final. */
export function advance(view: RunView, event: StreamEvent): { view: RunView; lines: Line[] } {
  const payload = event.payload ?? {};
  const nodeId = event.nodeId ?? text(payload.nodeId);
  const startedAt = nodeId === undefined ? undefined : view.running.get(nodeId);
  const at = event.timestamp === undefined ? undefined : Date.parse(event.timestamp);
  const elapsedMs = startedAt === undefined || at === undefined ? undefined : at - startedAt;
  const line = LINES[event.type]?.(payload, nameOf(view, nodeId), elapsedMs);
  return {
    view: {
      ...view,
      running: stillRunning(view, event.type, nodeId, at),
      waiting: waitingAfter(view, event),
    },
    lines: line ? [line] : [],
  };
}

const nameOf = (view: RunView, nodeId: string | undefined): string =>
  nodeId === undefined ? 'run' : (view.names[nodeId] ?? nodeId);

const LEAVES: ReadonlySet<string> = new Set(
  ['completed', 'failed', 'retried', 'skipped', 'cancelled', 'suspended'].map((end) => `node.${end}`),
);

function stillRunning(
  view: RunView,
  type: string,
  nodeId: string | undefined,
  at: number | undefined,
): ReadonlyMap<string, number> {
  if (nodeId === undefined) return view.running;
  if (type === 'node.started' || type === 'node.resumed') {
    return at === undefined ? view.running : new Map(view.running).set(nodeId, at);
  }
  if (!LEAVES.has(type) || !view.running.has(nodeId)) return view.running;
  const rest = new Map(view.running);
  rest.delete(nodeId);
  return rest;
}

function waitingAfter(view: RunView, event: StreamEvent): string | undefined {
  if (event.type === 'run.paused') return 'paused';
  if (event.type === 'node.suspended') return `waiting for ${waitsFor(event.payload)}`;
  return event.type === 'run.resumed' || event.type === 'node.resumed' ? undefined : view.waiting;
}

const columnWidth = (view: RunView): number =>
  Math.min(NAME_WIDTH_MAX, Math.max(12, ...Object.values(view.names).map((name) => name.length)));

export function cut(line: string, columns: number): string {
  const characters = [...line];
  return characters.length <= columns ? line : `${characters.slice(0, columns - 1).join('')}…`;
}

/** A complete finished line: it may wrap. */
export function renderLine(view: RunView, line: Line, style: Style): string {
  const [colour, glyph] = GLYPHS[line.mark];
  const name = printable(line.name).padEnd(columnWidth(view));
  const took = (line.durationMs === undefined ? '' : duration(line.durationMs)).padStart(8);
  const note = line.note ? `  ${printable(line.note)}` : '';
  return `  ${style(colour, glyph)} ${`${name}${style('dim', took)}${note}`.trimEnd()}`;
}

/** The running steps. Never wider than the terminal, so that they can be erased line by line. */
export function renderLive(
  view: RunView,
  at: { now: number; tick: number; columns: number },
  style: Style,
): string[] {
  const spin = style('cyan', SPINNER[at.tick % SPINNER.length] ?? '');
  const room = Math.max(10, at.columns - 5);
  const row = (body: string) => `  ${spin} ${cut(body, room)}`;
  const running = [...view.running];
  if (running.length === 0) return [row(view.waiting ?? 'waiting for the next step')];
  const shown = running.slice(0, LIVE_LINES_MAX).map(([nodeId, startedAt]) => {
    const name = printable(nameOf(view, nodeId)).padEnd(columnWidth(view));
    return row(`${name}${duration(at.now - startedAt).padStart(8)}`);
  });
  const more = running.length - shown.length;
  return more > 0 ? [...shown, row(`and ${more} more`)] : shown;
}
