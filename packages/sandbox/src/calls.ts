/** Answers the calls of a child: primitives here, surfaces by the invocation. */
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
  /** The folder that `fs.read` and `fs.write` of this process access. */
  readonly filesFolder: string;
  /** Logs a failure of the host. Its reason is not shown to the pack. */
  fault(method: string, error: unknown): void;
}

export type Answer =
  | { readonly ok: true; readonly value: Data | undefined }
  | { readonly ok: false; readonly error: NodeError };

const WASM_CALLS: ReadonlySet<string> = new Set(['wasm.channel_read', 'wasm.channel_write', 'wasm.now_ms']);
const SELF_SEEN: ReadonlySet<string> = new Set(['crypto', 'env.read']);
/** Not `fs.`: a surface uses that path, and it would shadow the granted primitive. */
const FILE = 'file.';
const GRANTS: Readonly<Record<string, string>> = {
  'net.fetch': 'net.outbound',
  'net.dns': 'net.dns',
  'env.read': 'env.read',
};

/** The grant that a method needs; `undefined` for an offered method, `unknown` for an unknown one. */
function grantFor({ surfaces, code }: Invocation, method: string, args: readonly Data[]): string | undefined {
  if (Object.hasOwn(surfaces, method) || (code.language === 'wasm' && WASM_CALLS.has(method)))
    return undefined;
  if (method === 'primitive.use') return SELF_SEEN.has(String(args[0])) ? String(args[0]) : 'unknown';
  const ofFile = method.startsWith(FILE) ? filePrimitive(method.slice(FILE.length)) : undefined;
  return GRANTS[method] ?? ofFile ?? 'unknown';
}

/** Why the runner would never make this call. Synchronous, since the next frame may be the result of the pack. */
export function whyNotOffered(
  invocation: Invocation,
  method: string,
  args: readonly Data[],
): string | undefined {
  const needed = grantFor(invocation, method, args);
  if (needed === undefined || invocation.grants.includes(needed)) return undefined;
  return needed === 'unknown'
    ? `The method ${method} was never offered.`
    : `The pack was not granted ${needed}.`;
}

async function perform(job: Job, method: string, args: readonly Data[], io: CallIo, context: CallContext) {
  const { invocation, usage } = job;
  const needed = grantFor(invocation, method, args);
  if (needed === undefined) usage.surfaces.add(method);
  else usage.primitives.add(needed);
  if (needed === undefined || method === 'net.fetch') return invocation.call(method, args, io);
  if (method === 'primitive.use') return null;
  if (method === 'env.read') return invocation.environment?.[String(args[0])];
  const { signal, isBlocking = false } = io;
  const caller = { tenant: context.tenant, signal, isBlocking };
  if (method === 'net.dns') return guardedLookup(context.egress, args, caller);
  return fileOperation(context.filesFolder, method.slice(FILE.length), args, caller);
}

/** Rejects with `OutsideFolder` only; every other failure is an answer. */
export async function answerCall(
  job: Job,
  call: { readonly method: string; readonly args: readonly Data[] },
  io: CallIo,
  context: CallContext,
): Promise<Answer> {
  try {
    return { ok: true, value: await perform(job, call.method, call.args, io, context) };
  } catch (error) {
    if (error instanceof OutsideFolder) throw error;
    const fault = io.signal.aborted ? () => {} : context.fault;
    return { ok: false, error: failureForPack(call.method, error, fault) };
  }
}

/** Passes errors that are not meant for the pack to `fault`. */
export function failureForPack(method: string, error: unknown, fault: CallContext['fault']): NodeError {
  const shown = shownOf(error);
  if (shown === undefined) fault(method, error);
  return toNodeError(shown ?? HIDDEN);
}

const HIDDEN = { code: 'internal_error', message: 'The host failed to carry out this call. See its log.' };

const of = ({ message, code, details }: ErrorForPack | OpenwopError, retryable: boolean) => ({
  message,
  code,
  details,
  retryable,
});

/** The part of a host error that was written for the pack; `undefined` for other errors. */
function shownOf(error: unknown): Readonly<Record<string, unknown>> | undefined {
  if (error instanceof ErrorForPack) return of(error, error.retryable);
  if (error instanceof OpenwopError) return of(error, error.retriable);
  if (error instanceof EgressError) return { message: error.message, code: error.code ?? error.reason };
  return undefined;
}
