/** The child's end: frames in on one descriptor, out on the next, answers to blocking calls on the third. */
import { read, readSync, writeSync } from 'node:fs';
import { Decoder, encode, join, sizeOf, TooLarge } from './wire.mjs';

const INPUT = 3;
const OUTPUT = 4;
const ANSWERS = 5;
const CHUNK_BYTES = 256 * 1024;
/** Mirrors what the host allows to be under way; see `credit.ts`. */
const CREDIT_BYTES = 8 * 1024 * 1024;
const FRAME_COST_MIN = 1024;

const exit = process.exit.bind(process);
const later = queueMicrotask;
const answers = new Decoder();
const waiting = [];
let owed = 0;
let outbox = [];
let outboxBytes = 0;

function write(piece) {
  let offset = 0;
  try {
    while (offset < piece.byteLength) offset += writeSync(OUTPUT, piece, offset);
  } catch {
    exit(0);
  }
}

/** With what was posted before it. Small pieces leave together; a large one is not copied for that. */
function writeAll(last = []) {
  const pieces = [...outbox, ...last];
  outbox = [];
  outboxBytes = 0;
  let small = [];
  for (const piece of pieces) {
    if (piece.byteLength < CHUNK_BYTES) small.push(piece);
    else {
      write(join(small));
      write(piece);
      small = [];
    }
  }
  write(small.length === 1 ? small[0] : join(small));
}

/** Calls that are made together leave together, after what the pack does in this turn; large ones at once. */
function post(pieces) {
  if (outbox.length === 0) later(() => writeAll());
  outboxBytes += sizeOf(pieces);
  if (outboxBytes > CHUNK_BYTES) writeAll(pieces);
  else outbox.push(pieces.length === 1 ? pieces[0] : join(pieces));
}

/** Sends at once, after all that was said before. For what the host always takes: results, logs, refusals. */
export function send(message) {
  writeAll(encode(message));
}

/** Waits only without credit: what is numbered in order leaves in order. */
async function withCredit(pieces, leave) {
  // The pack may change its bytes while they wait
  const frame = owed < CREDIT_BYTES ? pieces : [join(pieces)];
  while (owed >= CREDIT_BYTES) await new Promise((resolve) => waiting.push(resolve));
  const size = sizeOf(frame);
  owed += size < FRAME_COST_MIN ? FRAME_COST_MIN : size;
  leave(frame);
}

function reasonOf(error) {
  try {
    return `${error.message}`;
  } catch {
    return 'The value cannot be read.';
  }
}

/** In the place of a call or event that no frame can carry: its number is used, and the host refuses it by that. */
const unsent = (head, error) =>
  encode({ type: 'unsent', ...head, reason: reasonOf(error), isTooLarge: error instanceof TooLarge });

function callFrame(head, args) {
  try {
    return encode({ type: 'call', ...head, args });
  } catch (error) {
    return unsent(head, error);
  }
}

/** A call whose answer comes later. Sends when the host has room; resolves when sent. */
export const postCall = (head, args) => withCredit(callFrame({ mode: 'async', ...head }, args), post);

/** Resolves when sent. Throws what cannot be sent. */
export function emitEvent(head, value) {
  let frame;
  let fault;
  try {
    frame = encode({ type: 'emit', ...head, value });
  } catch (error) {
    fault = error;
    frame = unsent({ mode: 'emit', ...head }, error);
  }
  const sent = withCredit(frame, writeAll);
  return fault === undefined ? sent : sent.then(() => Promise.reject(fault));
}

export function giveCredit(bytes) {
  owed -= bytes;
  for (const resolve of waiting.splice(0)) resolve();
}

/** Calls and blocks the whole process until the host has answered. */
export function callAndBlock(head, args) {
  writeAll(callFrame({ mode: 'sync', ...head }, args));
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (;;) {
    const length = readSync(ANSWERS, chunk, 0, CHUNK_BYTES, null);
    if (length === 0) exit(0);
    const [frame] = answers.push(chunk.subarray(0, length));
    if (frame) return frame.message;
  }
}

/** Hands every frame to `receive`; the end of the input is the end of the process. */
export function listen(receive) {
  const decoder = new Decoder();
  const chunk = new Uint8Array(CHUNK_BYTES);
  const next = () =>
    read(INPUT, chunk, 0, CHUNK_BYTES, null, (error, length) => {
      if (error || length === 0) exit(0);
      for (const { message } of decoder.push(chunk.subarray(0, length))) receive(message);
      next();
    });
  next();
}

export function failure(error) {
  const wrapped = new Error(error.message);
  for (const name of ['code', 'details', 'retryable'])
    if (error[name] !== undefined) wrapped[name] = error[name];
  if (error.details?.capability !== undefined) wrapped.capability = error.details.capability;
  return wrapped;
}
