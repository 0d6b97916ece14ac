/**
 * The child's end of the channel: frames arrive on one descriptor, leave on the next, and answers to blocking
 * calls arrive on the third.
 */
import { read, readSync, writeSync } from 'node:fs';
import { stackOf } from './frames.mjs';
import { largestArgument, whyArguments, whyUnsendable } from './unsendable.mjs';
import { costOfPieces, Decoder, encode, encodeNote, join, sizeOf, TooLarge } from './wire.mjs';

const INPUT = 3;
const OUTPUT = 4;
const ANSWERS = 5;
const CHUNK_BYTES = 256 * 1024;
/** Mirrors the limit of the host; see `credit.ts`. */
const CREDIT_BYTES = 8 * 1024 * 1024;

const exit = process.exit.bind(process);
const later = queueMicrotask;
const answers = new Decoder();
/** Frames that wait for credit, in the order of their numbers. */
let waiting = [];
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

/** Writes everything posted so far, then `last`. Small pieces are joined into one write; a large one is not copied. */
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

/** Calls of one turn are written together, after the pack code of that turn; large ones at once. */
function post(pieces) {
  if (outbox.length === 0) later(() => writeAll());
  outboxBytes += sizeOf(pieces);
  if (outboxBytes > CHUNK_BYTES) writeAll(pieces);
  else outbox.push(pieces.length === 1 ? pieces[0] : join(pieces));
}

/**
 * Sends at once, after all earlier messages. For messages that the host always accepts: results, logs,
 * refusals. A result is the last message of its invocation: frames that still wait for credit are dropped.
 */
export function send(message) {
  if (message.type === 'result') waiting = waiting.filter(({ id }) => id !== message.id);
  writeAll(message.type === 'log' ? encodeNote(message) : encode(message));
}

/** Numbered frames are sent in order: none overtakes a waiting one. Resolves when the frame was sent. */
function withCredit({ id }, pieces, leave) {
  const cost = costOfPieces(pieces);
  if (owed < CREDIT_BYTES && waiting.length === 0) {
    owed += cost;
    leave(pieces);
    return Promise.resolve();
  }
  return new Promise((left) => {
    // The pack may change its bytes while they wait
    waiting.push({ id, frame: [join(pieces)], cost, leave, left });
  });
}

/** Sends waiting frames while `may()` is true. */
function leaveWhile(may) {
  let gone = 0;
  for (; gone < waiting.length && may(); gone++) {
    const { frame, cost, leave, left } = waiting[gone];
    owed += cost;
    leave(frame);
    left();
  }
  waiting = waiting.slice(gone);
}

function reasonOf(error) {
  try {
    return `${error.message}`;
  } catch {
    return 'The value cannot be read.';
  }
}

/** Replaces a call or event that no frame can carry. It uses the same number, and the host fails it. */
const unsent = (head, reason, isTooLarge) => encode({ type: 'unsent', ...head, reason, isTooLarge });

function callFrame(head, args) {
  try {
    return encode({ type: 'call', ...head, args });
  } catch (error) {
    if (!(error instanceof TooLarge)) return unsent(head, whyArguments(args) ?? reasonOf(error), false);
    return unsent(head, `${largestArgument(args)} is too large. ${reasonOf(error)}`, true);
  }
}

/** A call whose answer comes later. Sends when the host has capacity; resolves when sent. */
export const postCall = (head, args) => withCredit(head, callFrame({ mode: 'async', ...head }, args), post);

/** Resolves when sent. Throws if the event cannot be sent. */
export function emitEvent(head, value) {
  let frame;
  let fault;
  try {
    frame = encodeNote({ type: 'emit', ...head, value });
  } catch (error) {
    fault = new Error(whyUnsendable(value, 'event') ?? reasonOf(error));
    frame = unsent({ mode: 'emit', ...head }, fault.message, error instanceof TooLarge);
  }
  const sent = withCredit(head, frame, writeAll);
  return fault === undefined ? sent : sent.then(() => Promise.reject(fault));
}

export function giveCredit(bytes) {
  owed -= bytes;
  leaveWhile(() => owed < CREDIT_BYTES);
}

/**
 * Calls and blocks the whole process until the host has answered. Waiting frames are sent before it without
 * credit, as their numbers are lower; the host allows that once.
 */
export function callAndBlock(head, args) {
  leaveWhile(() => true);
  writeAll(callFrame({ mode: 'sync', ...head }, args));
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (;;) {
    const length = readSync(ANSWERS, chunk, 0, CHUNK_BYTES, null);
    if (length === 0) exit(0);
    const [frame] = answers.push(chunk.subarray(0, length));
    if (frame) return frame.message;
  }
}

/** Passes every frame to `receive`; the process exits at the end of the input. */
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

/** The methods of failed calls, by their errors. */
const methods = new WeakMap();

/** The method of the call that an error came from. */
export const methodOf = (error) =>
  typeof error === 'object' && error !== null ? methods.get(error) : undefined;

/** An error answer of the host as an error with the stack of the call. */
export function failure(error, { method, leftOut, site }) {
  const wrapped = new Error(`${error.message}${leftOut}`);
  if (site) wrapped.stack = `${wrapped}\n${stackOf(site).split('\n').slice(1).join('\n')}`;
  for (const name of ['code', 'details', 'retryable'])
    if (error[name] !== undefined) wrapped[name] = error[name];
  if (error.details?.capability !== undefined) wrapped.capability = error.details.capability;
  methods.set(wrapped, method);
  return wrapped;
}
