/** Whether a Redis server keeps what it is given. Read from what INFO reports; null where it may not be asked. */
import { refused } from '../backend-errors.ts';

const VERSION_MIN = [6, 2] as const;

/** Throws `storage_unavailable` that says which setting of the server to change. */
export function assertUsable(info: string | null, address: string): void {
  if (info === null) return;
  const facts = factsOf(info);
  if (isOlder(facts.redis_version ?? '', VERSION_MIN))
    throw unfit(address, `is version ${facts.redis_version}. Use ${VERSION_MIN.join('.')} or newer.`);
  if (facts.cluster_enabled === '1')
    throw unfit(address, 'is a node of a Redis Cluster. Use a single server, or one with replicas.');
  const { maxmemory = '0', maxmemory_policy: policy = 'noeviction' } = facts;
  if (maxmemory !== '0' && policy !== 'noeviction')
    throw unfit(
      address,
      `drops keys when its memory is full (maxmemory-policy ${policy}). Set maxmemory-policy to noeviction: ` +
        'every tenant has bounds of its own.',
    );
}

/** For what must not be lost. */
export function assertDurable(info: string | null, address: string): void {
  if (info === null || factsOf(info).aof_enabled === '1') return;
  throw unfit(
    address,
    'does not write to its disk before it answers (appendonly no). Set appendonly to yes, and appendfsync to always; ' +
      'or use this server for the cache alone.',
  );
}

const unfit = (address: string, why: string) => refused('storage_unavailable', `Redis at ${address}`, why);

const factsOf = (info: string): Readonly<Record<string, string>> =>
  Object.fromEntries(info.split(/\r?\n/).flatMap((line) => pairOf(line)));

function pairOf(line: string): [string, string][] {
  const at = line.indexOf(':');
  return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : [];
}

function isOlder(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ours = 0, minorOfOurs = 0] = version.split('.').map(Number);
  return ours < major || (ours === major && minorOfOurs < minor);
}
