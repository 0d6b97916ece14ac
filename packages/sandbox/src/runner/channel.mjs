/** The child's end: frames in on one descriptor, out on the next, answers to blocking calls on the third. */
import { read, readSync, writeSync } from 'node:fs';
import { Decoder, encode } from './wire.mjs';

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

function write(frame) {
  let offset = 0;
  try {
    while (offset < frame.byteLength) offset += writeSync(OUTPUT, frame, offset);
  } catch {
    exit(0);
  }
}

/** With what was posted before it. */
function writeAll(...last) {
  const frames = [...outbox, ...last];
  outbox = [];
  outboxBytes = 0;
  if (frames.length < 2) return frames.forEach(write);
  const joined = new Uint8Array(frames.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let offset = 0;
  for (const frame of frames) {
    joined.set(frame, offset);
    offset += frame.byteLength;
  }
  write(joined);
}

/** Calls that are made together leave together, after what the pack does in this turn. */
function post(frame) {
  if (outbox.length === 0) later(() => writeAll());
  outbox.push(frame);
  outboxBytes += frame.byteLength;
  if (outboxBytes > CHUNK_BYTES) writeAll();
}

/** Sends at once, after all that was said before. For what the host always takes: results, logs, refusals. */
export function send(message) {
  writeAll(encode(message));
}

/** Waits only without credit: what is numbered in order leaves in order. */
async function withCredit(message, leave) {
  const frame = encode(message);
  while (owed >= CREDIT_BYTES) await new Promise((resolve) => waiting.push(resolve));
  owed += frame.byteLength < FRAME_COST_MIN ? FRAME_COST_MIN : frame.byteLength;
  leave(frame);
}

/** Sends when the host has room; resolves when sent. Calls and emitted events cost credit. */
export const sendWithCredit = (message) => withCredit(message, writeAll);
export const postWithCredit = (message) => withCredit(message, post);

export function giveCredit(bytes) {
  owed -= bytes;
  for (const resolve of waiting.splice(0)) resolve();
}

/** Sends and blocks the whole process until the host has answered. */
export function sendAndBlock(message) {
  send(message);
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (;;) {
    const length = readSync(ANSWERS, chunk, 0, CHUNK_BYTES, null);
    if (length === 0) exit(0);
    const [frame] = answers.push(chunk.slice(0, length));
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
      for (const { message } of decoder.push(chunk.slice(0, length))) receive(message);
      next();
    });
  next();
}

export function failure(error) {
  const wrapped = new Error(error.message);
  for (const name of ['code', 'details', 'retryable', 'capability', 'name'])
    if (error[name] !== undefined) wrapped[name] = error[name];
  return wrapped;
}
