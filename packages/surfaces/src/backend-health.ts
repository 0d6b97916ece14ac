/** What keeps the data of each capability, and whether it can be used now: at the start, and whenever someone asks. */
import type { BackendHealth } from '@gantry/protocol';
import { BackendRefusal, isUnavailable } from './backend-errors.ts';
import type { OpenedPort } from './open-port.ts';

export interface ServedBackend {
  readonly capability: string;
  /** `GANTRY_KV` */
  readonly setting: string;
  readonly backend: Pick<OpenedPort<unknown>, 'kind' | 'health'> & {
    /** What the operator should mend, though it can be used. */
    warning?(): Promise<string | null>;
  };
}

export const healthOf = (served: readonly ServedBackend[]): Promise<BackendHealth[]> =>
  Promise.all(
    served.map(async ({ capability, setting, backend }) => {
      const fault = await faultOf(backend);
      const warning = fault === null ? await warningOf(backend) : null;
      return {
        capability,
        backend: backend.kind,
        ...(fault && { problem: `${setting}: ${messageOf(fault.error)}` }),
        ...(warning !== null && { warning: `${setting}: ${warning}` }),
      };
    }),
  );

/** A server that has no answer to this is none to warn of. */
const warningOf = async ({ warning }: ServedBackend['backend']): Promise<string | null> =>
  (await warning?.().catch(() => null)) ?? null;

type Fault = { readonly error: unknown } | null;

const faultOf = ({ health }: ServedBackend['backend']): Promise<Fault> =>
  health().then(
    () => null,
    (error: unknown) => ({ error }),
  );

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : 'The server does not answer.';

/** A little longer than connecting may take, which says what is wrong. */
const FIRST_LOOK_MS = 6_000;
const SILENT: Fault = { error: new Error('The server does not answer.') };

export interface Absence {
  readonly message: string;
  readonly settings: readonly string[];
}

/**
 * At the start: what cannot be used for now, once for each server. Rejects, with the setting, for what refuses for
 * good. Who says nothing for long is looked at no further.
 */
export async function absencesOf(served: readonly ServedBackend[]): Promise<Absence[]> {
  const late = AbortSignal.timeout(FIRST_LOOK_MS);
  const silence = new Promise<Fault>((resolve) =>
    late.addEventListener('abort', () => resolve(SILENT), { once: true }),
  );
  const faults = await Promise.all(served.map(({ backend }) => Promise.race([faultOf(backend), silence])));
  const absences = new Map<string, Set<string>>();
  for (const [index, { setting }] of served.entries()) {
    const fault = faults[index] ?? null;
    if (fault === null) continue;
    const message = messageOf(fault.error);
    if (fault !== SILENT && !isPassing(fault.error))
      throw new Error(`${setting}: ${message}`, { cause: fault.error });
    absences.set(message, (absences.get(message) ?? new Set()).add(setting));
  }
  return [...absences].map(([message, settings]) => ({ message, settings: [...settings] }));
}

const isPassing = (error: unknown): boolean => isUnavailable(error) && !(error instanceof BackendRefusal);
