import type {
  InterruptLink,
  OpenInterrupt,
  OpenInterrupts,
  ResolveInterruptResponse,
} from '@gantry/protocol';
import { type CallOptions, type CreateOptions, createCalls } from './calls.ts';
import type { Transport } from './transport.ts';

export interface InterruptPage extends CallOptions {
  before?: string;
  limit?: number;
}

/** Interrupts that runs wait for. Each one defines the form of its answer. */
export interface Interrupts {
  /** Those of the newest runs first. */
  list(page?: InterruptPage): Promise<OpenInterrupts>;
  get(runId: string, nodeId: string, options?: CallOptions): Promise<OpenInterrupt>;
  /** @example interrupts.resolve(runId, 'review', { action: 'accept', comment: 'fine' }) */
  resolve(
    runId: string,
    nodeId: string,
    resumeValue: unknown,
    options?: CreateOptions,
  ): Promise<ResolveInterruptResponse>;
  /** A link by which this person can answer without a key. Needs `approvals:link`. */
  link(runId: string, nodeId: string, person: string, options?: CallOptions): Promise<InterruptLink>;
  /** Revokes the existing links of this person. Needs `approvals:link`. */
  revokeLinks(runId: string, nodeId: string, person: string, options?: CallOptions): Promise<void>;
  /** By a signed token, without a key. */
  getToken(token: string, options?: CallOptions): Promise<OpenInterrupt>;
  resolveToken(
    token: string,
    resumeValue: unknown,
    options?: CreateOptions,
  ): Promise<ResolveInterruptResponse>;
}

export function createInterrupts(transport: Transport): Interrupts {
  const { read, send, remove } = createCalls(transport);
  const nodePath = (runId: string, nodeId: string) =>
    `/v1/runs/${encodeURIComponent(runId)}/interrupts/${encodeURIComponent(nodeId)}`;
  const linksPath = (runId: string, nodeId: string) =>
    `${nodePath(runId, nodeId).replace('/v1/', '/v1/host/gantry/')}/links`;
  const tokenPath = (token: string) => `/v1/interrupts/${encodeURIComponent(token)}`;
  return {
    list: ({ signal, ...query } = {}) => read('/v1/host/gantry/interrupts', query, signal && { signal }),
    get: (runId, nodeId, options) => read(nodePath(runId, nodeId), {}, options),
    resolve: (runId, nodeId, resumeValue, options) => send(nodePath(runId, nodeId), { resumeValue }, options),
    link: (runId, nodeId, person, options) => send(linksPath(runId, nodeId), { person }, options),
    revokeLinks: (runId, nodeId, person, options) =>
      remove(`${linksPath(runId, nodeId)}/${encodeURIComponent(person)}`, options),
    getToken: (token, options) => read(tokenPath(token), {}, options),
    resolveToken: (token, resumeValue, options) => send(tokenPath(token), { resumeValue }, options),
  };
}
