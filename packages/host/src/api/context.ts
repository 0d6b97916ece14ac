/** What every resource of the API works with. */

import type { RunLimits } from '@gantry/engine';
import type { Turns } from '@gantry/limiter';
import type { Store } from '@gantry/store';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { MasterKey } from '../master-key.ts';
import type { MountedRegistry } from '../mounted-registry.ts';
import type { Redactions } from '../redaction/redactions.ts';
import type { Runtime, Workflows } from '../runtime/runtime.ts';
import type { Services } from '../services.ts';
import type { StoreHealth } from '../store-health.ts';

export interface HostInfo {
  readonly name: string;
  readonly version: string;
  /** Ids of the workflows loaded at start that every tenant sees. */
  readonly fixtures: readonly string[];
  readonly limits: RunLimits & {
    readonly maxRequestBodyBytes: number;
    readonly sseSubscribersMax: number;
  };
  /** How long an ended run and its events are kept at least. */
  readonly retentionSeconds: number;
  readonly budgetEnforce: 'hard' | 'advisory';
}

export interface ApiDeps {
  /** Of tenants on this thread; without one the server has its own. */
  readonly turns?: Turns;
  readonly runtime: Runtime;
  readonly workflows: Workflows;
  readonly services: Omit<Services, 'runtime' | 'start' | 'stop'>;
  readonly registry: Pick<MountedRegistry, 'access' | 'routes' | 'testNamespace'> | undefined;
  /** Whether the seams of the public conformance suite are served. */
  readonly seams: boolean;
  readonly store: Store;
  readonly masterKey: MasterKey;
  readonly redactions: Redactions;
  readonly info: HostInfo;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
  readonly health: Pick<StoreHealth, 'problem' | 'clockSkewMs'>;
  /** What absolute addresses in an answer begin with: the public URL of the settings, else as the request names it. */
  readonly originOf: (request: Pick<FastifyRequest, 'protocol' | 'host'>) => string;
  /** Store migrated, recovery started. */
  readonly isReady: () => boolean;
}
