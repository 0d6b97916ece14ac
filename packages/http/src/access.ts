/** Access rules of routes. A route without a rule does not start: access is denied by default. */
import type { Scope } from '@gantry/protocol';

/**
 * `token`: the path holds a credential of its own. `optional`: a key is not needed, and may show more. With both, a key
 * that comes along must be a good one.
 */
export type Access = 'public' | 'token' | 'optional' | readonly Scope[];

/** By operation: method and path as the OpenAPI document writes them. No scope implies another. */
export type AccessRules = Readonly<Record<string, Access>>;

/** Lets a key act for every tenant where a route says so. Only the server itself grants it. */
export const HOST_ADMIN = 'host:admin';

/** `/v1/runs/:runId(^[^:]+)::pause` as OpenAPI writes it: `/v1/runs/{runId}:pause`. */
export const documentedPath = (url: string): string =>
  url.replace(/(?<!:):(\w+)(\([^)]*\))?/g, '{$1}').replaceAll('::', ':');

export function accessOf(rules: AccessRules, method: string, url: string): Access {
  const operation = `${method === 'HEAD' ? 'GET' : method} ${documentedPath(url)}`;
  const access = rules[operation];
  if (access === undefined) throw new Error(`no access rule for ${operation}`);
  return access;
}
