/** One isolated process: how it is started, spoken to, measured and ended. What is said is not its business. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { frameRoom, LARGE_FRAME_BYTES } from './credit.ts';
import { type Command, LAUNCH_ENVIRONMENT } from './isolation/launch.ts';
import { Decoder, encode } from './runner/wire.mjs';

const STDERR_BYTES_MAX = 16 * 1024;
const PAGE_BYTES = 4096;
const HEAP_EXHAUSTED = /heap out of memory|Reached heap limit|Allocation failed|^MemoryError/m;

/** Why a process is no more. */
export type ChildEnd =
  | { readonly kind: 'killed' }
  | { readonly kind: 'bad-frame'; readonly reason: string }
  | { readonly kind: 'heap-exhausted' }
  | { readonly kind: 'exited'; readonly reason: string };

export interface ChildEvents {
  /** Resolves when nothing of the message is needed any more. */
  message(message: unknown, size: number): Promise<void> | void;
  end(end: ChildEnd): void;
}

/** The last of a chain of single children: the launchers in front of Node wait for it. */
function innermost(pid: number): number {
  try {
    const [child, second] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    return child && second === undefined ? innermost(Number(child)) : pid;
  } catch {
    return pid;
  }
}

function write(pipe: Socket, pieces: readonly Uint8Array[], taken: () => void): void {
  for (const [index, piece] of pieces.entries())
    if (index === pieces.length - 1) pipe.write(piece, taken);
    else pipe.write(piece);
}

/** Extra descriptors are sockets that Node's types do not name. A gone child breaks them; `close` reports that. */
function asPipe(stream: unknown): Socket {
  if (!(stream instanceof Socket)) throw new TypeError('The child has no such pipe.');
  return stream.on('error', () => {});
}

export class Child {
  readonly #process: ChildProcess;
  readonly #events: ChildEvents;
  readonly #decoder = new Decoder();
  readonly #input: Socket;
  readonly #output: Socket;
  readonly #answers: Socket;
  /** Gives back the room of the large frame that is being collected. */
  #leaveRoom: (() => void) | undefined;
  #stderr = '';
  #end: ChildEnd | undefined;
  #ended = false;
  #nodePid: number | undefined;

  constructor(command: Command, events: ChildEvents) {
    this.#events = events;
    this.#process = spawn(command.file, command.args, {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
      env: LAUNCH_ENVIRONMENT,
      cwd: '/',
    });
    const streams: readonly unknown[] = this.#process.stdio;
    const [, stdout, stderr, input, output, answers] = streams;
    this.#input = asPipe(input);
    this.#output = asPipe(output);
    this.#answers = asPipe(answers);
    for (const stream of [stdout, stderr]) asPipe(stream).on('data', (chunk: Buffer) => this.#hear(chunk));
    this.#output.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#process.once('error', (error) => this.#close({ kind: 'exited', reason: error.message }));
    this.#process.once('close', (code, signal) => this.#close(this.#exit(code, signal)));
  }

  /**
   * All that is said in one turn of the loop leaves in one write. `taken` is called when the child has it, or never
   * will. Bytes in the message must not change before.
   */
  send(message: unknown, taken: () => void = () => {}): void {
    if (this.#ended) {
      taken();
      return;
    }
    const pieces = encode(message);
    if (this.#input.writableCorked === 0) {
      this.#input.cork();
      process.nextTick(() => this.#input.uncork());
    }
    write(this.#input, pieces, taken);
  }

  /** Wakes a child that blocks on a synchronous call. */
  answer(message: unknown, taken: () => void = () => {}): void {
    if (this.#ended) taken();
    else write(this.#answers, encode(message), taken);
  }

  kill(end: ChildEnd = { kind: 'killed' }): void {
    this.#end ??= end;
    this.#process.kill('SIGKILL');
  }

  /** Resident bytes of Node itself, read from outside. */
  residentBytes(): number | undefined {
    const pid = this.#pid();
    if (pid === undefined) return undefined;
    try {
      return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
    } catch {
      return undefined;
    }
  }

  /** An idle process is stopped, so that timers it left behind do nothing and cost nothing. */
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

  /** From now on the innermost process is Node; before, it may be a launcher and is looked up each time. */
  started(): void {
    const { pid } = this.#process;
    if (pid !== undefined) this.#nodePid = innermost(pid);
  }

  #hear(chunk: Buffer): void {
    if (this.#stderr.length < STDERR_BYTES_MAX)
      this.#stderr += chunk.toString('utf8', 0, STDERR_BYTES_MAX - this.#stderr.length);
  }

  #receive(chunk: Buffer): void {
    if (this.#end) return;
    try {
      for (const { message, size } of this.#decoder.push(chunk)) this.#hand(message, size);
    } catch (error) {
      this.kill({ kind: 'bad-frame', reason: error instanceof Error ? error.message : 'not a frame' });
    }
    const { size } = this.#decoder;
    if (size > LARGE_FRAME_BYTES && !this.#leaveRoom && !this.#end) void this.#waitForRoom(size);
  }

  #hand(message: unknown, size: number): void {
    const leaveRoom = this.#leaveRoom;
    this.#leaveRoom = undefined;
    const handled = this.#events.message(message, size);
    if (handled && leaveRoom) void handled.finally(leaveRoom);
    else leaveRoom?.();
  }

  /** A chunk is smaller than a large frame: there is at most one, and hardly anything of it is here. */
  async #waitForRoom(size: number): Promise<void> {
    this.#output.pause();
    this.#leaveRoom = () => {};
    this.#leaveRoom = await frameRoom.take(size);
    if (this.#ended) this.#leaveRoom();
    this.#output.resume();
  }

  #exit(code: number | null, signal: string | null): ChildEnd {
    if (HEAP_EXHAUSTED.test(this.#stderr)) return { kind: 'heap-exhausted' };
    const lastWords = this.#stderr.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
    return { kind: 'exited', reason: `${signal ?? `exit code ${code}`}${lastWords && `: ${lastWords}`}` };
  }

  #close(end: ChildEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#leaveRoom?.();
    this.#events.end(this.#end ?? end);
  }
}
