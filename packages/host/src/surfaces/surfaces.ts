/** The surfaces of this host for nodes, opened with the backends of the settings. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { EgressByPurpose } from '@gantry/egress';
import type { HostOffer } from '@gantry/packs';
import { type BackendHealth, given, type JsonObject } from '@gantry/protocol';
import type { Store } from '@gantry/store';
import {
  type CallGate,
  createCallGate,
  type EnvelopesPort,
  type HttpCredentials,
  type MessagesPort,
  type ModelsPort,
  type OpenedSurfaces,
  openSurfaces as openAll,
  type PromptsPort,
  type SecretsPort,
} from '@gantry/surfaces';
import type { Logger } from 'pino';
import type { MasterKey } from '../master-key.ts';
import type { Members } from '../packs/node-controls/members.ts';
import type { SurfaceFacts } from '../packs/node-controls/surfaces.ts';
import { answerKeys } from '../redaction/answer-keys.ts';
import { holdsSecret } from '../redaction/holds-secret.ts';
import type { Redactions } from '../redaction/redactions.ts';
import type { Settings } from '../settings.ts';
import type { ToolCalls } from '../tools/tool-calls.ts';
import { callJournal } from './call-journal.ts';
import { callLog } from './call-log.ts';
import { backendMetrics, CallMetrics } from './metrics.ts';

export interface SurfacesOptions {
  readonly settings: Pick<Settings, 'dataDir' | 'databaseUrl' | 'backends' | 'quotas' | 'buckets'>;
  readonly store: Pick<Store, 'processes'>;
  readonly masterKey: MasterKey;
  readonly redactions: Pick<Redactions, 'of'>;
  readonly secrets: SecretsPort;
  readonly credentials: HttpCredentials;
  readonly egress: EgressByPurpose;
  readonly tools: ToolCalls;
  /** The prefix of links to objects, read when a link is made. */
  readonly publicUrl: () => Promise<string>;
  /** Stores the messages of nodes. */
  readonly messages: MessagesPort;
  readonly prompts: PromptsPort;
  readonly models: ModelsPort;
  readonly envelopes: EnvelopesPort;
  /** The maximum duration of a run: a node that continues must find its earlier calls. */
  readonly invocationRetentionMs: number;
  readonly now: () => number;
  readonly log: Logger;
}

export interface Surfaces
  extends Pick<OpenedSurfaces, 'queue' | 'blobs' | 'health' | 'servePresigned' | 'forgetRun'> {
  /** The members of `ctx` for one running node. */
  membersFor(facts: SurfaceFacts): Members;
  readonly tools: ToolCalls;
  readonly capabilities: HostOffer['capabilities'];
  /** The prefix of links to objects that this host stores itself. */
  publicUrl(): Promise<string>;
  /** Families of the discovery document. */
  readonly families: JsonObject;
  /** Names for `sandbox.allowedHostCalls`. */
  readonly hostCalls: readonly string[];
  /** Metrics of calls and backends, as text. */
  metrics(): Promise<string>;
  /** Deletes expired data. */
  sweep(): Promise<number>;
  stop(): Promise<void>;
}

/** Signs cursors and delivery tokens, including those of triggers. */
export const surfaceCursorKey = (masterKey: MasterKey): Uint8Array => masterKey.hmac('surface-cursor')('v1');

export async function openSurfaces(options: SurfacesOptions): Promise<Surfaces> {
  const { settings, masterKey, tools, publicUrl, now, log } = options;
  const opened = await openAll({
    ...options,
    dataDir: settings.dataDir,
    backends: { database: settings.databaseUrl, ...settings.backends },
    quotas: settings.quotas,
    ...given({ processes: options.store.processes }),
    buckets: settings.buckets,
    cursorKey: surfaceCursorKey(masterKey),
    blobLinks: { key: masterKey.hmac('blob-link')('v1'), publicUrl },
    report: (fault) =>
      typeof fault === 'string' ? log.warn(fault) : log.warn({ err: fault }, 'a backend of surfaces'),
  });
  const metrics = new CallMetrics();
  const tell = callLog({ log, now, settings: opened.settings });
  const gate = createCallGate({
    surfaces: opened.surfaces,
    now,
    answerKeys: answerKeys(masterKey, options.redactions),
    holdsSecret: (tenant, sent) => holdsSecret(options.redactions.of(tenant), sent),
    onCall: (report) => {
      metrics.record(report);
      tell(report);
    },
  });
  const families = gate.discovery();
  return {
    membersFor: nodeMembers(gate, tools),
    tools,
    publicUrl,
    capabilities: gate.capabilities(),
    families,
    hostCalls: Object.keys(families).map((name) => `host.${name}`),
    queue: opened.queue,
    blobs: opened.blobs,
    health: async () => [...leftRuns(settings), ...(await opened.health())],
    servePresigned: opened.servePresigned,
    forgetRun: opened.forgetRun,
    metrics: async () => `${metrics.text()}${backendMetrics(await opened.health())}`,
    sweep: () => opened.sweep(now()),
    stop: () => opened.close(),
  };
}

/** The calls of one running node pass the gate, and are journaled in the log of the runtime. */
export const nodeMembers =
  (gate: CallGate, tools: ToolCalls) =>
  ({ key, log, recorded, warn, signal: cancelled, approve, ...facts }: SurfaceFacts): Members => {
    const { owner, work, nodeId, ordinalBase: ordinal } = facts;
    const caller = { principal: owner.principal ?? undefined, run: work?.run, tell: work?.tell, approve };
    const calls = gate.open(
      { ...facts, ...key, cancelled },
      callJournal(log, { tools, caller, ...given({ recorded, warn }) }),
    );
    return {
      table: Object.fromEntries(
        Object.entries(gate.table).map(([path, kind]) => [path, calls.mayCall(path) ? kind : 'denied']),
      ),
      denialOf: (capability) => calls.denialOf(capability),
      primitives: gate.primitives,
      load: () => tools.load({ log, ...caller }, { ...key, nodeId, ordinal }, calls.tools()),
      call: (path, args, io) => {
        const call = () => calls.call(path, args, io);
        return io.untimed && gate.slow.has(path) ? io.untimed(call) : call();
      },
    };
  };

/** Runs that the host stored in the data folder before a database was configured. */
const leftRuns = ({ databaseUrl, dataDir }: SurfacesOptions['settings']): BackendHealth[] => {
  if (databaseUrl === undefined || !existsSync(path.join(dataDir, 'gantry.db'))) return [];
  const warning =
    'GANTRY_DATABASE_URL: the data folder still has runs, keys and workflows from before this was set (gantry.db). ' +
    'They were not moved, and this host does not see them. To go on with them start without this setting; to give ' +
    'them up delete gantry.db.';
  return [{ capability: 'runs', backend: 'postgres', state: 'up', warning }];
};
