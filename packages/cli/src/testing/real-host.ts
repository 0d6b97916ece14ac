/** For tests: the real host on a real port, and command lines run against it in this process. */
import { type Client, createClient } from '@gantry/client';
import { given, isTerminal, type WorkflowDefinition } from '@gantry/protocol';
import { TEST_KEY } from '../../../host/src/testing/host-process.ts';
import type { Lifetime } from '../../../host/src/testing/one-per-file.ts';
import { type TestHost, testHost } from '../../../host/src/testing/test-host.ts';
import { runCli } from '../cli.ts';
import type { Input } from '../io.ts';
import { memoryIo, memoryOutput } from './test-host.ts';

export interface Said {
  code: number;
  out: string;
  err: string;
}

export interface Speaking {
  finished: Promise<Said>;
  /** Resolves with the first match of what goes to stdout. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
}

export interface RealHost {
  /** For what no command does: to publish a message. */
  readonly services: TestHost['host']['services'];
  readonly client: Client;
  clientOf(apiKey: string): Client;
  /** One command line without a terminal. */
  gantry(...args: string[]): Promise<Said>;
  /** The same, to be listened to while it runs. */
  start(...args: string[]): Speaking;
  /** The same, with this piped in. */
  piping(text: string, ...args: string[]): Promise<Said>;
  /** One command line on a terminal whose person types these lines. */
  typing(lines: readonly string[], ...args: string[]): Speaking;
}

type TestHostOptions = NonNullable<Parameters<typeof testHost>[1]>;

export async function realHost(
  t: Lifetime,
  workflows: readonly WorkflowDefinition[],
  { cwd, ...options }: Omit<TestHostOptions, 'workflows'> & { readonly cwd?: string } = {},
): Promise<RealHost> {
  const { host } = await testHost(t, { workflows, ...options });
  const url = await host.app.listen({ host: '127.0.0.1', port: 0 });
  const clientOf = (apiKey: string): Client => createClient({ baseUrl: url, apiKey });
  const speak = (args: readonly string[], stdin: Input | undefined): Speaking => {
    const { io, err } = memoryIo();
    const { out, says } = listenedOutput(stdin?.isTTY === true);
    const env = { GANTRY_URL: url, GANTRY_API_KEY: TEST_KEY, NO_COLOR: '1' };
    const world = { ...io, stdout: out, env, now: options.now ?? Date.now, ...given({ cwd, stdin }) };
    const finished = runCli(args, world).then((code) => ({ code, out: out.text, err: err.text }));
    return { finished, says };
  };
  return {
    services: host.services,
    client: clientOf(TEST_KEY),
    clientOf,
    gantry: (...args) => speak(args, undefined).finished,
    start: (...args) => speak(args, undefined),
    piping: (text, ...args) =>
      speak(args, { isTTY: false, ask: async () => undefined, read: async () => text }).finished,
    typing: (lines, ...args) => speak(args, typist(lines)),
  };
}

function listenedOutput(isTTY: boolean) {
  const base = memoryOutput(isTTY);
  const listeners = new Set<() => void>();
  const out = {
    ...base,
    write(text: string) {
      this.text += text;
      for (const listen of listeners) listen();
    },
  };
  const says = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve) => {
      const listen = () => {
        const match = pattern.exec(out.text);
        if (match) resolve(match);
      };
      listeners.add(listen);
      listen();
    });
  return { out, says };
}

/** Types its lines one after the other, then waits until it is told to stop. */
function typist(lines: readonly string[]): Input {
  const rest = [...lines];
  return {
    isTTY: true,
    read: async () => '',
    ask: (_prompt, signal) =>
      new Promise((resolve, reject) => {
        const next = rest.shift();
        if (next !== undefined) return resolve(next);
        if (signal.aborted) return reject(signal.reason);
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
  };
}

/** Resolves when the run has come to this status; events say when to look. */
export async function reaches(client: Client, runId: string, isThere: (status: string) => boolean) {
  let cursor: { lastSequence?: number } = {};
  for (;;) {
    const snapshot = await client.runs.get(runId);
    if (isThere(snapshot.status)) return snapshot;
    if (isTerminal(snapshot.status)) throw new Error(`${runId} ended as ${snapshot.status}`);
    const last = (await client.runs.poll(runId, { ...cursor, timeoutSeconds: 10 })).events.at(-1);
    if (last) cursor = { lastSequence: last.sequence };
  }
}

export const isWaiting = (status: string): boolean => status.startsWith('waiting-');
