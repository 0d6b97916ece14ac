/** Whether an endpoint of the operator answers, and with which models. Probed only on demand. */
import type { Egress } from '@gantry/egress';
import { EgressError } from '@gantry/egress';
import type { Provider } from './provider-table.ts';

const TIMEOUT_MS = 2_000;
const BYTES_MAX = 1024 * 1024;
const MODELS_MAX = 200;
const FRESH_MS = 30_000;

export type Probed =
  | { readonly answers: true; readonly models: readonly string[] }
  | { readonly answers: false };

interface Known {
  readonly at: number;
  readonly probed: Promise<Probed>;
  settled?: Probed;
}

export type Probes = ReturnType<typeof createProbes>;

export function createProbes(egressTo: (provider: Provider) => Pick<Egress, 'request'>, now: () => number) {
  const known = new Map<string, Known>();
  return {
    /** The result of the last probe; undefined before the first. */
    last: (id: string): Probed | undefined => known.get(id)?.settled,
    async ask(provider: Provider, tenant: string): Promise<Probed> {
      const before = known.get(provider.id);
      if (before && now() < before.at + FRESH_MS) return before.probed;
      const entry: Known = { at: now(), probed: probe(egressTo(provider), provider, tenant) };
      known.set(provider.id, entry);
      entry.settled = await entry.probed;
      return entry.settled;
    },
  };
}

async function probe(egress: Pick<Egress, 'request'>, provider: Provider, tenant: string): Promise<Probed> {
  const url = provider.isOllama
    ? `${new URL(provider.baseUrl).origin}/api/tags`
    : `${provider.baseUrl}/models`;
  try {
    const { status, body } = await egress.request(url, {
      tenant,
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: BYTES_MAX,
    });
    // A server that requires a key for the list is still reachable
    if (status >= 500) return { answers: false };
    return { answers: true, models: modelsIn(Buffer.from(body).toString('utf8')) };
  } catch (error) {
    if (error instanceof EgressError) return { answers: false };
    throw error;
  }
}

const isName = (name: unknown): name is string => typeof name === 'string' && name.length <= 256;

function modelsIn(text: string): string[] {
  try {
    const { data, models } = JSON.parse(text);
    const all: readonly { id?: unknown; name?: unknown }[] = [data ?? models ?? []].flat();
    return all
      .map(({ id, name }) => id ?? name)
      .filter(isName)
      .slice(0, MODELS_MAX);
  } catch {
    return [];
  }
}
