/**
 * A loopback proxy in front of PostgreSQL that fails as networks do. It reads the messages of the protocol, so that it
 * can fail at one statement; it does not speak TLS.
 *
 * @example
 * const proxy = await openProxy(database.url);
 * const failed = proxy.failAt(/^commit/, 'drop-answer');
 * await assert.rejects(store.commit(groups));
 * await failed;
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { FrontendMessages, MessageReader, READY_FOR_QUERY } from './postgres-messages.ts';

/**
 * `cut-before`: the server never gets the statement, the connection is reset.
 * `drop-answer`: the server has carried it out; the connection is reset before the answer passes.
 * `silence`: the server carries it out; nothing passes any more, and the connection stays open.
 */
export type Failure = 'cut-before' | 'drop-answer' | 'silence';

export interface PostgresProxy {
  /** Of the same database, through the proxy. */
  readonly url: string;
  /** How many connections were made so far. */
  readonly connectionsMade: number;
  /** The next statement that matches fails so, once. Resolves when it has. */
  failAt(statement: RegExp, failure: Failure): Promise<void>;
  /** Asked for every statement; null lets it pass. For seeded rounds: `seededFailures`. */
  failEach(choose: ((statement: string) => Failure | null) | null): void;
  /** Resets every connection. */
  cut(): void;
  /** Connections open now (that have sent such a statement) pass nothing more and are not reset. Answers how many. */
  silence(sent?: RegExp): number;
  /** While on, connections made meanwhile are silent too. */
  silenceAll(isOn: boolean): void;
  /** Each chunk, each way. */
  delay(ms: number): void;
  close(): Promise<void>;
}

interface Options {
  delayMs: number;
  isSilent: boolean;
  choose: (statement: string) => Failure | null;
}

export async function openProxy(url: string): Promise<PostgresProxy> {
  const target = new URL(url);
  const links = new Set<Link>();
  const rules: { statement: RegExp; failure: Failure; happened: () => void }[] = [];
  let chooseEach: ((statement: string) => Failure | null) | null = null;
  let connectionsMade = 0;
  const options: Options = {
    delayMs: 0,
    isSilent: false,
    choose(statement) {
      const at = rules.findIndex((rule) => rule.statement.test(statement));
      if (at < 0) return chooseEach?.(statement) ?? null;
      const [rule] = rules.splice(at, 1);
      rule!.happened();
      return rule!.failure;
    },
  };
  const server = createServer((client) => {
    connectionsMade++;
    const link = new Link(client, connect(Number(target.port), target.hostname), options);
    links.add(link);
    client.once('close', () => links.delete(link));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no loopback port');
  const through = new URL(url);
  through.port = String(address.port);
  return {
    url: through.href,
    get connectionsMade() {
      return connectionsMade;
    },
    failAt: (statement, failure) => new Promise((happened) => rules.push({ statement, failure, happened })),
    failEach(choose) {
      chooseEach = choose;
    },
    cut() {
      for (const link of links) link.reset();
    },
    silence(sent) {
      const chosen = [...links].filter(
        (link) => !sent || link.sent.some((statement) => sent.test(statement)),
      );
      for (const link of chosen) link.isSilent = true;
      return chosen.length;
    },
    silenceAll(isOn) {
      options.isSilent = isOn;
      if (isOn) for (const link of links) link.isSilent = true;
    },
    delay(ms) {
      options.delayMs = ms;
    },
    async close() {
      for (const link of links) link.reset();
      server.close();
    },
  };
}

/** One connection. Every Query or Sync that the client sends is answered by one ReadyForQuery. */
class Link {
  isSilent: boolean;
  readonly sent: string[] = [];
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #options: Options;
  readonly #fromClient = new FrontendMessages();
  readonly #fromServer = new MessageReader();
  readonly #order = { toServer: Promise.resolve(), toClient: Promise.resolve() };
  /** The session's own start is answered by one that nobody asked for. */
  #answered = -1;
  #resetAfterAnswers = Number.POSITIVE_INFINITY;

  constructor(client: Socket, server: Socket, options: Options) {
    this.#client = client;
    this.#server = server;
    this.#options = options;
    this.isSilent = options.isSilent;
    for (const socket of [client, server]) socket.setNoDelay(true).on('error', () => {});
    client.on('data', (bytes: Buffer) => this.#fromClientCame(bytes)).on('close', () => server.destroy());
    server.on('data', (bytes: Buffer) => this.#fromServerCame(bytes));
    server.on('close', () => this.isSilent || client.destroy());
  }

  reset(): void {
    this.#client.resetAndDestroy();
    this.#server.resetAndDestroy();
  }

  #fromClientCame(bytes: Buffer): void {
    if (this.isSilent) return;
    for (const statement of this.#fromClient.read(bytes)) {
      this.sent.push(statement.text);
      if (this.sent.length > 200) this.sent.splice(1, 100);
      const failure = this.#options.choose(statement.text);
      if (failure === 'cut-before') return void this.reset();
      if (failure === 'drop-answer') this.#resetAfterAnswers = statement.answersUpTo;
      if (failure === 'silence') this.isSilent = true;
    }
    this.#pass('toServer', this.#server, bytes);
  }

  #fromServerCame(bytes: Buffer): void {
    for (const { type } of this.#fromServer.read(bytes)) if (type === READY_FOR_QUERY) this.#answered++;
    if (this.#answered >= this.#resetAfterAnswers) return void this.reset();
    const isDropping = this.#resetAfterAnswers < Number.POSITIVE_INFINITY;
    if (!this.isSilent && !isDropping) this.#pass('toClient', this.#client, bytes);
  }

  /** In order, also while the delay changes. */
  #pass(way: 'toServer' | 'toClient', to: Socket, bytes: Buffer): void {
    const { delayMs } = this.#options;
    if (delayMs === 0 && to.writable) return void this.#queue(way, async () => void to.write(bytes));
    const due = performance.now() + delayMs;
    this.#queue(way, async () => {
      await sleep(Math.max(0, due - performance.now()));
      if (to.writable) to.write(bytes);
    });
  }

  #queue(way: 'toServer' | 'toClient', work: () => Promise<void>): void {
    this.#order[way] = this.#order[way].then(work);
  }
}

/** The same seed makes the same choices for the same statements in the same order. */
export function seededFailures(seed: number, share: number): (statement: string) => Failure | null {
  const failures: readonly Failure[] = ['cut-before', 'drop-answer', 'silence'];
  const random = mulberry(seed);
  return () => (random() < share ? failures[Math.floor(random() * failures.length)]! : null);
}

export function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
