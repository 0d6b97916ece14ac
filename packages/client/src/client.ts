import type { BackendHealth, DiscoveryDocument, ModelUsage, SandboxHealth } from '@gantry/protocol';
import { type Ai, createAi } from './ai.ts';
import { type Artifacts, createArtifacts } from './artifacts.ts';
import { type Connections, createConnections } from './connections.ts';
import { type Connectors, createConnectors } from './connectors.ts';
import { type Credentials, createCredentials } from './credentials.ts';
import { createDeadLetters, type DeadLetters } from './dead-letters.ts';
import { createHeartbeats, type Heartbeats } from './heartbeats.ts';
import { createInterrupts, type Interrupts } from './interrupts.ts';
import { createKeys, type Keys } from './keys.ts';
import { createPacks, type Packs } from './packs.ts';
import { RECONNECT, REQUEST_RETRY, type RetryPolicy } from './retry.ts';
import { createRuns, type Runs } from './runs.ts';
import { createSchedules, type Schedules } from './schedules.ts';
import { createTransport, type Fetch } from './transport.ts';
import { createTriggers, type Triggers } from './triggers.ts';
import { createWebhooks, type Webhooks } from './webhooks.ts';
import { createWorkflows, type Workflows } from './workflows.ts';

export interface ClientOptions {
  /** Without `/v1`: `http://127.0.0.1:7070`. */
  baseUrl: string;
  /** Only `discovery` works without one. */
  apiKey?: string;
  fetch?: Fetch;
  /** How single calls are retried. */
  retry?: Partial<RetryPolicy>;
  /** How event streams reconnect. */
  reconnect?: Partial<RetryPolicy>;
}

export interface Client {
  readonly baseUrl: string;
  readonly runs: Runs;
  readonly interrupts: Interrupts;
  readonly workflows: Workflows;
  readonly packs: Packs;
  readonly schedules: Schedules;
  readonly heartbeats: Heartbeats;
  readonly triggers: Triggers;
  readonly webhooks: Webhooks;
  readonly deadLetters: DeadLetters;
  readonly credentials: Credentials;
  readonly connections: Connections;
  readonly connectors: Connectors;
  readonly keys: Keys;
  readonly ai: Ai;
  readonly artifacts: Artifacts;
  /** What models were used for in so many days, by workflow. */
  usage(days?: string): Promise<ModelUsage>;
  /** What the host can do: `/.well-known/openwop`. */
  discovery(): Promise<DiscoveryDocument>;
  /** What keeps the data of packs, and whether it can be used now. */
  backends(): Promise<BackendHealth[]>;
  /** What stands between packs and the machine of the host. */
  sandbox(): Promise<SandboxHealth>;
}

/**
 * Speaks to a host.
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
  return {
    baseUrl: transport.baseUrl,
    runs: createRuns(transport, { ...RECONNECT, ...options.reconnect }),
    interrupts: createInterrupts(transport),
    ai: createAi(transport),
    artifacts: createArtifacts(transport),
    workflows: createWorkflows(transport),
    packs: createPacks(transport),
    schedules: createSchedules(transport),
    heartbeats: createHeartbeats(transport),
    triggers: createTriggers(transport),
    webhooks: createWebhooks(transport),
    deadLetters: createDeadLetters(transport),
    credentials: createCredentials(transport),
    connections: createConnections(transport),
    connectors: createConnectors(transport),
    keys: createKeys(transport),
    usage: (days) => {
      const query = days === undefined ? '' : `?days=${encodeURIComponent(days)}`;
      return transport.request({ method: 'GET', path: `/v1/host/gantry/usage${query}` });
    },
    backends: async () => {
      const request = { method: 'GET', path: '/v1/host/gantry/surfaces' } as const;
      return (await transport.request<{ backends: BackendHealth[] }>(request)).backends;
    },
    sandbox: () => transport.request({ method: 'GET', path: '/v1/host/gantry/sandbox' }),
    discovery: () => transport.request({ method: 'GET', path: '/.well-known/openwop' }),
  };
}
