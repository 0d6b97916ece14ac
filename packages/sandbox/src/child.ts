/** One isolated process: starts it, writes to it, measures it and ends it. Other modules interpret its frames. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { type FrameEvents, FrameReader } from './frame-reader.ts';
import { type Command, LAUNCH_ENVIRONMENT } from './isolation/launch.ts';
import { giveWay, innermost, isKill, killTree, memoryOf } from './isolation/process-tree.ts';
import { encode, sizeOf } from './runner/wire.mjs';

const STDERR_BYTES_MAX = 16 * 1024;
/** The longest wait for the end of a process that was killed, or whose launcher has exited. */
const GONE_MS = 5_000;
/** If more bytes than this are unwritten, the child is considered not to be reading its input. */
const UNWRITTEN_BYTES_MAX = 4 * 1024 * 1024;
const HEAP_EXHAUSTED = /heap out of memory|Reached heap limit|Allocation failed|^MemoryError/m;

/** Why a process ended. */
export type ChildEnd =
  | { readonly kind: 'killed' }
  | { readonly kind: 'bad-frame'; readonly reason: string }
  | { readonly kind: 'heap-exhausted' }
  | { readonly kind: 'exited'; readonly reason: string; readonly wasKilled?: boolean };

export interface ChildEvents extends Pick<FrameEvents, 'message'> {
  end(end: ChildEnd): void;
}

const PIPES = ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'] as const;

/** Runs in its own session: a pack that signals its process group reaches only its own launchers. */
function start({ file, args, attached }: Command): ChildProcess {
  const descriptors = attached === undefined ? [] : [openSync(attached, 'r')];
  try {
    const stdio = [...PIPES, ...descriptors];
    const child = spawn(file, args, { stdio, env: LAUNCH_ENVIRONMENT, cwd: '/', detached: true });
    if (child.pid !== undefined) giveWay(child.pid);
    return child;
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}

function write(pipe: Socket, pieces: readonly Uint8Array[], taken: () => void): void {
  for (const [index, piece] of pieces.entries())
    if (index === pieces.length - 1) pipe.write(piece, taken);
    else pipe.write(piece);
}

function unsent(taken: () => void): number {
  taken();
  return 0;
}

/** Extra descriptors are sockets that Node's types do not name. They fail when the child ends; `close` reports that. */
function asPipe(stream: unknown): Socket {
  if (!(stream instanceof Socket)) throw new TypeError('The child has no such pipe.');
  return stream.on('error', () => {});
}

export class Child {
  readonly #command: Command;
  readonly #process: ChildProcess;
  readonly #events: ChildEvents;
  readonly #reader: FrameReader;
  readonly #input: Socket;
  readonly #answers: Socket;
  readonly #whenClear: (() => void)[] = [];
  #stderr = '';
  #end: ChildEnd | undefined;
  #ended = false;
  #nodePid: number | undefined;
  #goneTimer: NodeJS.Timeout | undefined;

  constructor(command: Command, tenant: string, events: ChildEvents) {
    this.#command = command;
    this.#events = events;
    this.#process = start(command);
    const streams: readonly unknown[] = this.#process.stdio;
    const [, stdout, stderr, input, output, answers] = streams;
    this.#input = asPipe(input);
    this.#answers = asPipe(answers);
    for (const stream of [stdout, stderr]) asPipe(stream).on('data', (chunk: Buffer) => this.#collect(chunk));
    this.#input.on('drain', () => this.#cleared());
    this.#reader = new FrameReader(asPipe(output), tenant, {
      message: (frame) => events.message(frame),
      bad: (reason) => this.kill({ kind: 'bad-frame', reason }),
    });
    this.#process.once('error', (error) => this.#close({ kind: 'exited', reason: error.message }));
    this.#process.once('exit', () => this.#expectEnd());
    this.#process.once('close', (code, signal) => this.#close(this.#exit(code, signal)));
  }

  /**
   * Everything sent in one turn of the event loop is written at once. `taken` is called when the child has received the
   * message, or never will. Bytes in the message must not change before that. Returns the size in bytes.
   */
  send(message: unknown, taken: () => void = () => {}): number {
    if (this.#ended) return unsent(taken);
    const pieces = encode(message);
    if (this.#input.writableCorked === 0) {
      this.#input.cork();
      process.nextTick(() => this.#input.uncork());
    }
    write(this.#input, pieces, taken);
    return sizeOf(pieces);
  }

  /** Unblocks a child that waits in a synchronous call. */
  answer(message: unknown, taken: () => void = () => {}): number {
    if (this.#ended) return unsent(taken);
    const pieces = encode(message);
    write(this.#answers, pieces, taken);
    return sizeOf(pieces);
  }

  get isClear(): boolean {
    return this.#ended || this.#input.writableLength <= UNWRITTEN_BYTES_MAX;
  }

  /** Resolves when the child has read its input or has ended; at once when it has read most of it. */
  async clear(): Promise<void> {
    if (this.isClear) return;
    await new Promise<void>((resolve) => {
      this.#whenClear.push(resolve);
    });
  }

  #cleared(): void {
    for (const resolve of this.#whenClear.splice(0)) resolve();
  }

  kill(end: ChildEnd = { kind: 'killed' }): void {
    this.#end ??= end;
    this.#reader.stop();
    const { pid } = this.#process;
    if (this.#ended || pid === undefined) return;
    killTree(pid);
    this.#expectEnd();
  }

  /** An ended process may have passed its pipes to one that still runs, so `close` may never come. */
  #expectEnd(): void {
    this.#goneTimer ??= setTimeout(() => this.#close({ kind: 'killed' }), GONE_MS);
  }

  /** The memory of the interpreter itself, read from outside. */
  memory(): ReturnType<typeof memoryOf> {
    const pid = this.#pid();
    return pid === undefined ? undefined : memoryOf(pid);
  }

  /** An idle process is stopped, so that timers it left behind do not run and use no CPU time. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    const pid = this.#pid();
    try {
      if (pid !== undefined && !this.#ended) process.kill(pid, signal);
    } catch {
      this.kill();
    }
  }

  #pid(): number | undefined {
    const { pid } = this.#process;
    if (pid === undefined) return undefined;
    return this.#nodePid ?? innermost(pid);
  }

  /** From now on the innermost process is Node. Before, it may be a launcher and is looked up each time. */
  started(): void {
    const { pid } = this.#process;
    if (pid !== undefined) this.#nodePid = innermost(pid);
  }

  #collect(chunk: Buffer): void {
    if (this.#stderr.length < STDERR_BYTES_MAX)
      this.#stderr += chunk.toString('utf8', 0, STDERR_BYTES_MAX - this.#stderr.length);
  }

  #exit(code: number | null, signal: string | null): ChildEnd {
    if (HEAP_EXHAUSTED.test(this.#stderr)) return { kind: 'heap-exhausted' };
    const lastWords = this.#stderr.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
    const reason = `${signal ?? `exit code ${code}`}${lastWords && `: ${lastWords}`}`;
    return { kind: 'exited', reason, wasKilled: isKill(code, signal) };
  }

  #close(end: ChildEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#goneTimer);
    for (const stream of this.#process.stdio) stream?.destroy();
    this.#command.release();
    this.#reader.stop();
    this.#cleared();
    this.#events.end(this.#end ?? end);
  }
}
