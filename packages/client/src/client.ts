import type {
  AiProvider,
  AiProviders,
  BackendHealth,
  DiscoveryDocument,
  ModelUsage,
  SandboxHealth,
} from '@gantry/protocol';
import { type Artifacts, createArtifacts } from './artifacts.ts';
import { createCalls } from './calls.ts';
import { createInterrupts, type Interrupts } from './interrupts.ts';
import { createKeys, type Keys } from './keys.ts';
import { createPacks, type Packs } from './packs.ts';
import { createResources, type Resources } from './resources.ts';
import { RECONNECT, REQUEST_RETRY, type RetryPolicy } from './retry.ts';
import { createRuns, type Runs } from './runs.ts';
import { createSession, type Session } from './session.ts';
import { createTransport, type Fetch } from './transport.ts';
import { createWorkflows, type Workflows } from './workflows.ts';

export interface ClientOptions {
  /** Without `/v1`: `http://127.0.0.1:7070`. */
  baseUrl: string;
  /** Only `discovery` works without one. */
  apiKey?: string;
  fetch?: Fetch;
  /** Retries of single calls. */
  retry?: Partial<RetryPolicy>;
  /** Reconnects of event streams. */
  reconnect?: Partial<RetryPolicy>;
}

export interface Client extends Resources {
  readonly baseUrl: string;
  readonly runs: Runs;
  readonly interrupts: Interrupts;
  readonly workflows: Workflows;
  readonly packs: Packs;
  readonly keys: Keys;
  readonly session: Session;
  /** Models that the key may use; endpoints of the operator are checked for availability. */
  readonly ai: { providers(): Promise<AiProvider[]> };
  readonly artifacts: Artifacts;
  /** The usage of models in the given number of days, by workflow. */
  usage(days?: string): Promise<ModelUsage>;
  /** The capabilities of the host: `/.well-known/openwop`. */
  discovery(): Promise<DiscoveryDocument>;
  /** The backends for the data of packs, and whether they are available. */
  backends(): Promise<BackendHealth[]>;
  /** The isolation of packs on the machine of the host. */
  sandbox(): Promise<SandboxHealth>;
}

/**
 * Creates a client for a host.
 *
 * @example
 * const gantry = createClient({ baseUrl: 'http://127.0.0.1:7070', apiKey });
 * const { runId } = await gantry.runs.create({ workflowId: 'hello', inputs: { name: 'Ada' } });
 * for await (const event of gantry.runs.events(runId)) console.log(event.type);
 */
export function createClient(options: ClientOptions): Client {
  const transport = createTransport({
    baseUrl: options.baseUrl,
    apiKey: options.apiKey,
    fetch: options.fetch ?? globalThis.fetch,
    retry: { ...REQUEST_RETRY, ...options.retry },
  });
  const { read } = createCalls(transport);
  return {
    baseUrl: transport.baseUrl,
    runs: createRuns(transport, { ...RECONNECT, ...options.reconnect }),
    interrupts: createInterrupts(transport),
    artifacts: createArtifacts(transport),
    workflows: createWorkflows(transport),
    packs: createPacks(transport),
    keys: createKeys(transport),
    session: createSession(transport),
    ...createResources(transport),
    ai: {
      providers: async () => (await read<AiProviders>('/v1/host/gantry/ai/providers')).providers,
    },
    usage: (days) => read('/v1/host/gantry/usage', { days }),
    backends: async () => (await read<{ backends: BackendHealth[] }>('/v1/host/gantry/surfaces')).backends,
    sandbox: () => read('/v1/host/gantry/sandbox'),
    discovery: () => read('/.well-known/openwop'),
  };
}
