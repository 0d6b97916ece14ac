/**
 * PostgreSQL with pgvector, in this process: both are WebAssembly, and speak the wire protocol on a loopback port.
 *
 * I1  There is one session. Who has begun something keeps it until the session is idle again, so that the statements
 *     of one connection, named or not, and its transactions are its own.
 * I2  Settings of a connection are those of all: the clients of a test ask for the same ones.
 */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { dataDir } from '@electric-sql/pglite-prepopulatedfs';

export interface TestPgvector {
  readonly url: string;
  /** For what no client of the test would do. Between its calls only. */
  administer(...statements: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** The data folder comes ready; measured: making one takes 4 s. */
export async function openTestPgvector(): Promise<TestPgvector> {
  const session = await PGlite.create({ extensions: { vector }, loadDataDir: await dataDir() });
  await session.exec('create extension vector');
  const nextTurn = takingTurns();
  // Answers are written in pieces, which would wait for each other
  const server = createServer({ noDelay: true }, (socket) => {
    serve(socket, session, nextTurn).catch(() => socket.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no loopback port');
  return {
    url: `postgres://postgres@127.0.0.1:${address.port}/postgres`,
    async administer(...statements) {
      for (const statement of statements) await session.exec(statement);
    },
    async close() {
      server.close();
      await session.close();
    },
  };
}

type EndTurn = () => void;

function takingTurns(): () => Promise<EndTurn> {
  let last: Promise<void> = Promise.resolve();
  return async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = last;
    last = promise;
    await before;
    return resolve;
  };
}

/** I1. */
async function serve(socket: Socket, session: PGlite, nextTurn: () => Promise<EndTurn>): Promise<void> {
  let endTurn: EndTurn | null = null;
  try {
    for await (const message of messagesOf(socket)) {
      endTurn ??= await nextTurn();
      const answer = await answerTo(message, session);
      socket.write(answer);
      if (!isIdle(answer)) continue;
      endTurn();
      endTurn = null;
    }
  } finally {
    if (endTurn) {
      await session.exec('rollback');
      endTurn();
    }
  }
}

/** Some facts of the protocol: a length counts itself; the first message has no type. */
const LENGTH_BYTES = 4;
const [QUERY, SYNC, TERMINATE, READY] = Buffer.from('QSXZ');
const READY_BYTES = 6;
const STARTUP = 0;
const IDLE = Buffer.from('I')[0];

async function* messagesOf(socket: Socket): AsyncGenerator<Buffer> {
  let bytes = Buffer.alloc(0);
  let typeBytes = 0;
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= typeBytes + LENGTH_BYTES) {
      const end = typeBytes + bytes.readInt32BE(typeBytes);
      if (bytes.length < end) break;
      const message = bytes.subarray(0, end);
      if (typeBytes > 0 && message[0] === TERMINATE) return;
      yield message;
      bytes = bytes.subarray(end);
      typeBytes = 1;
    }
  }
}

const isReady = (answer: Uint8Array): boolean => answer.at(-READY_BYTES) === READY;
const isIdle = (answer: Uint8Array): boolean => isReady(answer) && answer.at(-1) === IDLE;

/** The session says that it is ready with an error already, and again when asked; a client counts these. */
async function answerTo(message: Buffer, session: PGlite): Promise<Uint8Array> {
  const [type] = message;
  if (type === STARTUP) await configure(session, message);
  const answer = await session.execProtocolRaw(message);
  const mayBeReady = type === STARTUP || type === QUERY || type === SYNC;
  return mayBeReady || !isReady(answer) ? answer : answer.subarray(0, -READY_BYTES);
}

const STARTUP_NAMES_AT = 8;
const NOT_SETTINGS = ['user', 'database', 'client_encoding'];

/** The session itself passes over what a client asks for when it connects. */
async function configure(session: PGlite, startup: Buffer): Promise<void> {
  const texts = startup.subarray(STARTUP_NAMES_AT).toString().split('\0');
  for (let index = 0; texts[index]; index += 2)
    if (!NOT_SETTINGS.includes(texts[index]!))
      await session.query('select set_config($1, $2, false)', texts.slice(index, index + 2));
}
