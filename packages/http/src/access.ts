/** Access rules of routes. A route without a rule prevents the start: access is denied by default. */
import type { Scope } from '@gantry/protocol';

/**
 * `token`: the path contains its own credential. `optional`: a key is not needed, but may show more. For both, a
 * key that is sent must be valid.
 */
export type Access = 'public' | 'token' | 'optional' | readonly Scope[];

/** By operation: method and path as in the OpenAPI document. No scope implies another. */
export type AccessRules = Readonly<Record<string, Access>>;

/** Lets a key act for all tenants on routes that support it. Only the server itself grants it. */
export const HOST_ADMIN = 'host:admin';

/** The OpenAPI form of `/v1/runs/:runId(^[^:]+)::pause`: `/v1/runs/{runId}:pause`. */
export const documentedPath = (url: string): string =>
  url.replace(/(?<!:):(\w+)(\([^)]*\))?/g, '{$1}').replaceAll('::', ':');

export function accessOf(rules: AccessRules, method: string, url: string): Access {
  const operation = `${method === 'HEAD' ? 'GET' : method} ${documentedPath(url)}`;
  const access = rules[operation];
  if (access === undefined) throw new Error(`no access rule for ${operation}`);
  return access;
}
