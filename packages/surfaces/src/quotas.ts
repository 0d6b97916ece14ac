/** Storage quotas of tenants: the defaults, and the operator's for all tenants or one (`GANTRY_QUOTAS`). */
import { didYouMean } from '@gantry/protocol';

/** Tables and documents share a quota. */
const NAMES = ['kv', 'cache', 'documents', 'vectors', 'search', 'queue', 'blobs', 'files'] as const;
export type QuotaName = (typeof NAMES)[number];

export interface QuotaEntry {
  readonly name: QuotaName;
  /** Only this tenant; overrides an entry without a tenant. */
  readonly tenant?: string;
  readonly bytes: number;
}

const ENTRY = /^([^@=\s]+)(?:@([^@=\s]+))?=(\S+)$/;
const SIZE = /^(\d{1,6})(KiB|MiB|GiB|TiB)$/;
const UNITS: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/** `kv=512MiB`, `blobs@acme=20GiB`. Throws an `Error` that names the problem. */
export function readQuota(text: string): QuotaEntry {
  const [, word = '', tenant, sizeText = ''] = ENTRY.exec(text) ?? [];
  const name = NAMES.find((each) => each === word);
  if (!name)
    throw new Error(
      `"${text}" is not a quota.${didYouMean(word, [...NAMES])} Quotas are ${NAMES.join(', ')}; an entry is such as kv=512MiB or kv@acme=1GiB.`,
    );
  const [, digits, unit = ''] = SIZE.exec(sizeText) ?? [];
  const bytes = Number(digits) * (UNITS[unit] ?? 0);
  if (!(bytes > 0)) throw new Error(`"${text}" has no size. Sizes are such as 512MiB, 20GiB or 1TiB.`);
  return { name, bytes, ...(tenant !== undefined && { tenant }) };
}

export type QuotaOf = (tenant: string) => number;

/** The quota of a tenant. A number is the same for all tenants. */
export const bytesFor = (quota: number | QuotaOf, tenant: string): number =>
  typeof quota === 'number' ? quota : quota(tenant);

export function quotaOf(entries: readonly QuotaEntry[] = [], name: QuotaName, defaultBytes: number): QuotaOf {
  const own = entries.filter((entry) => entry.name === name);
  const forAll = own.find(({ tenant }) => tenant === undefined)?.bytes ?? defaultBytes;
  const byTenant = new Map(own.map(({ tenant, bytes }) => [tenant, bytes]));
  return (tenant) => byTenant.get(tenant) ?? forAll;
}

/**
 * For ports whose quota is fixed at creation: opens one shared port, and one for each tenant with its own
 * quota. A method is dispatched by `tenant` in its last argument; without a tenant the shared port is called.
 */
export function perTenant<Port extends object>(
  entries: readonly QuotaEntry[] = [],
  name: QuotaName,
  defaultBytes: number,
  open: (quotaBytes: number) => Port,
): Port {
  const quota = quotaOf(entries, name, defaultBytes);
  const tenants = entries.flatMap((entry) => (entry.name === name && entry.tenant ? [entry.tenant] : []));
  const shared = open(quota(''));
  if (tenants.length === 0) return shared;
  const ports = new Map(tenants.map((tenant) => [tenant, open(quota(tenant))]));
  const portOf = (args: readonly unknown[]): Port => ports.get(Object(args.at(-1)).tenant) ?? shared;
  const methods = Object.keys(shared).map((method) => [
    method,
    (...args: unknown[]) => {
      const port = portOf(args);
      return (port[method as keyof Port] as (...args: unknown[]) => unknown).call(port, ...args);
    },
  ]);
  return Object.fromEntries(methods) as Port;
}
