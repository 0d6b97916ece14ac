/** The backend of each capability, and whether it can be used now. Checked at the start and on request. */
import { type BackendHealth, OpenwopError, Seldom } from '@gantry/protocol';
import { isUnavailable, ServerError, stateOf, type Trouble, toReader } from './backend-errors.ts';
import { inTime } from './deadline.ts';
import type { OpenedPort } from './open-port.ts';

export interface ServedBackend {
  readonly capability: string;
  /** For `sql`: the id of the data source in packs. */
  readonly datasource?: string;
  /** The name that the operator knows: `GANTRY_KV`, `GANTRY_DATASOURCES: Data source "crm"`. */
  readonly name: string;
  /** The setting that selects where its data is. */
  readonly setting: string;
  readonly backend: Pick<OpenedPort<unknown>, 'kind' | 'health' | 'warning'>;
}

type Backend = ServedBackend['backend'];

/** Prometheus times out a scrape after 10 s. */
const LOOK_MS = 9_000;
/** A little longer than the connection timeout, whose error gives the cause. */
const FIRST_LOOK_MS = 6_000;

/** How long a healthy result is reused. */
const WELL_MS = 5_000;

/** One health check per backend at a time; a healthy result is shared for 5 s, a bad one is checked again. */
export function createHealth(
  served: readonly ServedBackend[],
  now: () => number,
): () => Promise<BackendHealth[]> {
  const looks = served.map((each) => sharedLook(() => lookAt(each), now));
  return () => Promise.all(looks.map((look) => look()));
}

type Look =
  | { readonly kind: 'none' }
  | { readonly kind: 'under way'; readonly health: Promise<BackendHealth> }
  | { readonly kind: 'well'; readonly health: BackendHealth; readonly at: number };

function sharedLook(look: () => Promise<BackendHealth>, now: () => number): () => Promise<BackendHealth> {
  let last: Look = { kind: 'none' };
  const begin = async (): Promise<BackendHealth> => {
    let next: Look = { kind: 'none' };
    try {
      const health = await look();
      if (health.state === 'up' && health.warning === undefined) next = { kind: 'well', health, at: now() };
      return health;
    } finally {
      last = next;
    }
  };
  return async () => {
    if (last.kind === 'under way') return last.health;
    // A clock that was set back must not extend this
    if (last.kind === 'well' && Math.abs(now() - last.at) < WELL_MS) return last.health;
    const health = begin();
    last = { kind: 'under way', health };
    return health;
  };
}

async function lookAt({ capability, datasource, name, backend }: ServedBackend): Promise<BackendHealth> {
  const fault = await faultOf(backend, LOOK_MS);
  // Read after the check: some backends learn their kind during it
  const about = { capability, ...(datasource !== undefined && { datasource }), backend: backend.kind };
  if (fault) return { ...about, state: stateOf(fault.trouble), problem: `${name}: ${fault.reason}` };
  const warning = await warningOf(backend);
  return { ...about, state: 'up', ...(warning !== null && { warning: `${name}: ${warning}` }) };
}

/** A server that does not answer gets no warning. */
const warningOf = async ({ warning }: Backend): Promise<string | null> =>
  warning ? inTime(LOOK_MS, warning(), silent).catch(() => null) : null;

const SHARED_BY: Readonly<Record<string, string>> = {
  fs: 'Packs should keep shared files as objects (host.blobStorage).',
  sql: 'Name a server as "primary" in the file of GANTRY_DATASOURCES.',
};

/** For backends in the data folder: warns that other processes, if there are any, do not see the data. */
export function notShared(served: ServedBackend, processes: () => Promise<number>): ServedBackend {
  const { backend, capability } = served;
  if (backend.kind !== 'embedded') return served;
  return {
    ...served,
    backend: {
      ...backend,
      async warning() {
        const others = (await processes()) - 1;
        if (others < 1) return (await backend.warning?.()) ?? null;
        return (
          `its data is in the data folder of this process; ${others} more that use${others === 1 ? 's' : ''} the same ` +
          `database do${others === 1 ? 'es' : ''} not see it. ` +
          (SHARED_BY[capability] ?? 'Leave its setting out, or name a server in it.')
        );
      },
    },
  };
}

interface Fault {
  readonly trouble: Trouble;
  readonly reason: string;
  readonly error: unknown;
}

const silent = (): ServerError => new ServerError('storage_unavailable', 'The server', 'does not answer.');

/** Null when the backend can be used. */
const faultOf = ({ health }: Backend, ms: number): Promise<Fault | null> =>
  inTime(ms, health(), silent).then(
    () => null,
    (error: unknown) => ({ trouble: troubleOf(error), reason: reasonOf(toReader(error)), error }),
  );

/** An unexpected error does not resolve automatically, so it counts as `misconfigured`. */
function troubleOf(error: unknown): Trouble {
  if (error instanceof ServerError) return error.trouble;
  return isUnavailable(error) ? 'unreachable' : 'misconfigured';
}

/** For unexpected errors the first line: the rest is a stack trace. */
const reasonOf = (error: unknown): string =>
  error instanceof OpenwopError
    ? error.message
    : `${String(error instanceof Error ? error.message : error).split('\n', 1)[0]}`;

export interface Absence {
  readonly reason: string;
  /** All backends with this reason. */
  readonly names: readonly string[];
}

/** Checked at the start. Answers each unreachable server once; throws, with the setting, for a misconfigured one. */
export async function absencesOf(served: readonly ServedBackend[]): Promise<Absence[]> {
  const faults = await Promise.all(served.map(({ backend }) => faultOf(backend, FIRST_LOOK_MS)));
  const absences = new Map<string, Set<string>>();
  for (const [index, { name }] of served.entries()) {
    const fault = faults[index] ?? null;
    if (fault === null) continue;
    const { trouble, reason, error } = fault;
    if (trouble === 'misconfigured') throw new Error(`${name}: ${reason}`, { cause: error });
    absences.set(reason, (absences.get(reason) ?? new Set()).add(name));
  }
  return [...absences].map(([reason, names]) => ({ reason, names: [...names] }));
}

export interface OutageReport {
  absent(absence: Absence): void;
  /** A fault in background work, such as subscriptions. */
  fault(fault: unknown): void;
}

const AGAIN_MS = 600_000;

export function createOutageReport(options: {
  readonly report: (fault: unknown) => void;
  readonly now: () => number;
}): OutageReport {
  const { report, now } = options;
  const messages = new Seldom({ now, everyMs: AGAIN_MS });
  return {
    absent({ reason, names }) {
      messages.ask(reason);
      report(
        `${names.join(', ')}: ${reason} The host serves everything else, and tries this by itself when it is ` +
          'next needed.',
      );
    },
    fault(fault) {
      if (!isUnavailable(fault) || messages.ask(toReader(fault).message) !== null) report(fault);
    },
  };
}
