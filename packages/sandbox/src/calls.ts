/** Answers what a child calls: primitives here, surfaces by the invocation. */
import { type Egress, EgressError } from '@gantry/egress';
import { OpenwopError } from '@gantry/protocol';
import type { CallIo, Data, Invocation, NodeError } from './invocation.ts';
import type { Job } from './job.ts';
import { fileOperation, filePrimitive, OutsideFolder } from './primitives/files.ts';
import { guardedLookup } from './primitives/network.ts';
import { ErrorForPack, toNodeError } from './result.ts';

export interface CallContext {
  readonly egress: Egress;
  readonly tenant: string;
  /** The folder that `fs.read` and `fs.write` mean for this process. */
  readonly filesFolder: string;
  /** What the host could not do, for the log: the pack does not see why. */
  fault(method: string, error: unknown): void;
}

export type Answer =
  | { readonly ok: true; readonly value: Data | undefined }
  | { readonly ok: false; readonly error: NodeError };

/** Pack code got around the runner, or used a path that leads out. */
export class EscapeAttempt extends Error {
  readonly escapeKind: string;
  constructor(escapeKind: string, message: string) {
    super(message);
    this.escapeKind = escapeKind;
  }
}

const WASM_CALLS: ReadonlySet<string> = new Set(['wasm.channel_read', 'wasm.channel_write', 'wasm.now_ms']);
const SELF_SEEN: ReadonlySet<string> = new Set(['crypto', 'env.read']);
/** Not `fs.`: a surface has that path, and what is offered would hide what is granted. */
const FILE = 'file.';
const NETWORK: Readonly<Record<string, string>> = { 'net.fetch': 'net.outbound', 'net.dns': 'net.dns' };

/** Which grant a method needs; `undefined` for what is offered, or not known. */
function grantFor({ surfaces, code }: Invocation, method: string, args: readonly Data[]): string | undefined {
  if (Object.hasOwn(surfaces, method) || (code.language === 'wasm' && WASM_CALLS.has(method)))
    return undefined;
  if (method === 'primitive.use') return SELF_SEEN.has(String(args[0])) ? String(args[0]) : 'unknown';
  if (method === 'env.read') return 'env.read';
  return (
    NETWORK[method] ??
    (method.startsWith(FILE) ? filePrimitive(method.slice(FILE.length)) : undefined) ??
    'unknown'
  );
}

async function primitive(
  method: string,
  args: readonly Data[],
  io: CallIo,
  invocation: Invocation,
  context: CallContext,
) {
  if (method === 'primitive.use') return null;
  if (method === 'env.read') return invocation.environment?.[String(args[0])];
  const terms = { tenant: context.tenant, signal: io.signal };
  if (method === 'net.fetch') return invocation.call(method, args, io);
  if (method === 'net.dns') return guardedLookup(context.egress, args, terms);
  return fileOperation(context.filesFolder, method.slice(FILE.length), args, {
    ...terms,
    isBlocking: io.isBlocking === true,
  });
}

/** Synchronous: the result of the pack may be the next frame. */
export function assertOffered(invocation: Invocation, method: string, args: readonly Data[]): void {
  const needed = grantFor(invocation, method, args);
  if (needed === undefined || invocation.grants.includes(needed)) return;
  throw new EscapeAttempt(
    'host-process-escape',
    needed === 'unknown' ? `The method ${method} was never offered.` : `The pack was not granted ${needed}.`,
  );
}

async function perform(job: Job, method: string, args: readonly Data[], io: CallIo, context: CallContext) {
  const { invocation, usage } = job;
  const needed = grantFor(invocation, method, args);
  if (needed === undefined) {
    usage.surface(method);
    return invocation.call(method, args, io);
  }
  usage.primitive(needed);
  return primitive(method, args, io, invocation, context);
}

/** Rejects with `EscapeAttempt` only; every other failure is an answer. */
export async function answerCall(
  job: Job,
  call: { readonly method: string; readonly args: readonly Data[] },
  io: CallIo,
  context: CallContext,
): Promise<Answer> {
  try {
    return { ok: true, value: await perform(job, call.method, call.args, io, context) };
  } catch (error) {
    if (error instanceof EscapeAttempt) throw error;
    if (error instanceof OutsideFolder) throw new EscapeAttempt('host-fs-escape', error.message);
    const fault = io.signal.aborted ? () => {} : context.fault;
    return { ok: false, error: failureForPack(call.method, error, fault) };
  }
}

/** What is not meant for the pack goes to `fault`. */
export function failureForPack(method: string, error: unknown, fault: CallContext['fault']): NodeError {
  const shown = shownOf(error);
  if (shown === undefined) fault(method, error);
  return toNodeError(shown ?? HIDDEN);
}

const HIDDEN = { code: 'internal_error', message: 'The host could not do that. Its log says why.' };

const of = ({ message, code, details }: ErrorForPack | OpenwopError, retryable: boolean) => ({
  message,
  code,
  details,
  retryable,
});

/** What the pack may know of an error of the host: only what was written for it. */
function shownOf(error: unknown): Readonly<Record<string, unknown>> | undefined {
  if (error instanceof ErrorForPack) return of(error, error.retryable);
  if (error instanceof OpenwopError) return of(error, error.retriable);
  if (error instanceof EgressError) return { message: error.message, code: error.code ?? error.reason };
  return undefined;
}
