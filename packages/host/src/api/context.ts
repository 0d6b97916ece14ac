/** The dependencies of all API routes. */

import type { RunLimits } from '@gantry/engine';
import type { Turns } from '@gantry/limiter';
import type { Store } from '@gantry/store';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Console } from '../console/console.ts';
import type { Features } from '../feature.ts';
import type { FEATURES, Services } from '../features.ts';
import type { MasterKey } from '../master-key.ts';
import type { MountedRegistry } from '../mounted-registry.ts';
import type { Redactions } from '../redaction/redactions.ts';
import type { Runtime, Workflows } from '../runtime/runtime.ts';
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
  /** Minimum time that an ended run and its events are kept. */
  readonly retentionSeconds: number;
  readonly budgetEnforce: 'hard' | 'advisory';
}

export interface ApiDeps {
  /** Schedules work of tenants on this thread. The server creates its own if absent. */
  readonly turns?: Turns;
  readonly runtime: Runtime;
  readonly workflows: Workflows;
  readonly services: Omit<Services, 'runtime'>;
  readonly features: Pick<Features<typeof FEATURES>, 'routes' | 'forgetRun'>;
  readonly registry: Pick<MountedRegistry, 'access' | 'routes' | 'testNamespace'> | undefined;
  /** Whether the routes for the public conformance suite are served. */
  readonly seams: boolean;
  readonly store: Store;
  readonly masterKey: MasterKey;
  readonly redactions: Redactions;
  readonly info: HostInfo;
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
  readonly console: Pick<Console, 'page' | 'routes'>;
  readonly health: Pick<StoreHealth, 'problem' | 'clockSkewMs'>;
  /** The origin of absolute URLs in answers: the configured public URL, else the one in the request. */
  readonly originOf: (request: Pick<FastifyRequest, 'protocol' | 'host'>) => string;
  /** True once the store is migrated and recovery has started. */
  readonly isReady: () => boolean;
}
