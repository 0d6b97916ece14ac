/** Who may call what. A route without a line here does not start: access is denied by default. */
import type { Scope } from '@gantry/protocol';

export type Access = 'public' | readonly Scope[];

/** By operation: method and path as the OpenAPI document writes them. No scope implies another. */
export const ACCESS: { readonly [operation: string]: Access } = {
  'GET /': 'public',
  'GET /healthz': 'public',
  'GET /readyz': 'public',
  'GET /.well-known/openwop': 'public',
  'GET /v1/openapi.json': 'public',
  'GET /v1/workflows/{workflowId}': ['manifest:read'],
  'POST /v1/runs': ['runs:create'],
  'GET /v1/runs/{runId}': ['runs:read'],
  'GET /v1/runs/{runId}/events': ['runs:read'],
  'GET /v1/runs/{runId}/events/poll': ['runs:read'],
  'GET /v1/runs/{runId}/debug-bundle': ['runs:read'],
  'POST /v1/runs/{runId}/cancel': ['runs:cancel'],
  'POST /v1/runs/{runId}:cancel': ['runs:cancel'],
  'POST /v1/runs/{runId}:pause': ['runs:cancel'],
  'POST /v1/runs/{runId}:resume': ['runs:cancel'],
  'POST /v1/runs:bulk-cancel': ['runs:cancel'],
  'POST /v1/runs/{runId}:fork': ['runs:create', 'runs:read'],
  'GET /v1/host/gantry/runs': ['runs:read'],
  'GET /v1/host/gantry/runs/{runId}/explain': ['runs:read'],
  'GET /v1/host/gantry/workflows': ['manifest:read'],
  'POST /v1/host/gantry/workflows': ['workflows:write'],
  'GET /v1/host/gantry/workflows/{workflowId}/versions': ['manifest:read'],
  'GET /v1/host/gantry/workflows/{workflowId}/versions/{hash}': ['manifest:read'],
  'GET /v1/host/gantry/keys': ['keys:manage'],
  'POST /v1/host/gantry/keys': ['keys:manage'],
  'POST /v1/host/gantry/keys/{keyId}/rotate': ['keys:manage'],
  'DELETE /v1/host/gantry/keys/{keyId}': ['keys:manage'],
};

/** Lets a key act for every tenant where a route says so. Only the host itself gives it out. */
export const HOST_ADMIN = 'host:admin';

/** `/v1/runs/:runId(^[^:]+)::pause` as OpenAPI writes it: `/v1/runs/{runId}:pause`. */
export const documentedPath = (url: string): string =>
  url.replace(/(?<!:):(\w+)(\([^)]*\))?/g, '{$1}').replaceAll('::', ':');

export function accessOf(method: string, url: string): Access {
  const operation = `${method === 'HEAD' ? 'GET' : method} ${documentedPath(url)}`;
  const access = ACCESS[operation];
  if (access === undefined) throw new Error(`no access rule for ${operation}`);
  return access;
}
