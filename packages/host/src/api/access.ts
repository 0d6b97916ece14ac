/** Who may call what. A route without a line here does not start: access is denied by default. */
import type { Scope } from '@gantry/protocol';

/** `token`: the path holds a credential of its own; a key that comes along must be a good one. */
export type Access = 'public' | 'token' | readonly Scope[];

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
  'GET /v1/runs/{runId}:diff': ['runs:read'],
  'POST /v1/runs/{runId}/interrupts/{nodeId}': ['approvals:respond'],
  'POST /v1/runs/{runId}/approvals/{nodeId}': ['approvals:respond'],
  'GET /v1/runs/{runId}/interrupts/{nodeId}': ['runs:read'],
  'GET /v1/interrupts/{token}': 'token',
  'POST /v1/interrupts/{token}': 'token',
  'GET /v1/runs/{runId}/ancestry': ['runs:read'],
  'GET /v1/host/gantry/interrupts': ['runs:read'],
  'GET /v1/webhooks': ['webhooks:manage'],
  'POST /v1/webhooks': ['webhooks:manage'],
  'GET /v1/webhooks/{webhookId}': ['webhooks:manage'],
  'DELETE /v1/webhooks/{webhookId}': ['webhooks:manage'],
  'GET /v1/host/gantry/webhooks/{webhookId}/deliveries': ['webhooks:manage'],
  'POST /v1/host/gantry/webhooks/{webhookId}/deliveries/{deliveryId}:resend': ['webhooks:manage'],
  'GET /v1/trigger-subscriptions': ['webhooks:manage'],
  'POST /v1/trigger-subscriptions': ['webhooks:manage', 'runs:create'],
  'GET /v1/trigger-subscriptions/{subscriptionId}': ['webhooks:manage'],
  'DELETE /v1/trigger-subscriptions/{subscriptionId}': ['webhooks:manage'],
  'GET /v1/host/gantry/trigger-subscriptions/{subscriptionId}/deliveries': ['webhooks:manage'],
  'POST /v1/host/gantry/trigger-subscriptions/{subscriptionId}:pause': ['webhooks:manage'],
  'POST /v1/host/gantry/trigger-subscriptions/{subscriptionId}:resume': ['webhooks:manage'],
  'POST /v1/host/gantry/trigger-subscriptions/{subscriptionId}:rotate-secret': ['webhooks:manage'],
  // Whoever sends events has no key: the signature is the credential.
  'POST /v1/ingest/{subscriptionId}': 'public',
  'GET /v1/host/gantry/dead-letters': ['runs:read'],
  'DELETE /v1/host/gantry/dead-letters/{deadLetterId}': ['runs:cancel'],
  'POST /v1/host/gantry/dead-letters/{deadLetterId}:retry': ['runs:create', 'runs:read'],
  'GET /v1/host/gantry/runs': ['runs:read'],
  'GET /v1/host/gantry/runs/{runId}/explain': ['runs:read'],
  'GET /v1/host/gantry/workflows': ['manifest:read'],
  'POST /v1/host/gantry/workflows': ['workflows:write'],
  'POST /v1/host/gantry/workflows/from-chain': ['workflows:write'],
  'GET /v1/host/gantry/workflows/{workflowId}/versions': ['manifest:read'],
  'GET /v1/host/gantry/workflows/{workflowId}/versions/{hash}': ['manifest:read'],
  'GET /v1/host/gantry/schedules': ['runs:read'],
  'POST /v1/host/gantry/schedules': ['runs:create'],
  'POST /v1/host/gantry/schedules:preview': ['runs:create'],
  'GET /v1/host/gantry/schedules/{scheduleId}': ['runs:read'],
  'GET /v1/host/gantry/schedules/{scheduleId}/next': ['runs:read'],
  'POST /v1/host/gantry/schedules/{scheduleId}:pause': ['runs:create'],
  'POST /v1/host/gantry/schedules/{scheduleId}:resume': ['runs:create'],
  'DELETE /v1/host/gantry/schedules/{scheduleId}': ['runs:create'],
  'GET /v1/host/gantry/heartbeats': ['runs:read'],
  'POST /v1/host/gantry/heartbeats': ['runs:create'],
  'GET /v1/host/gantry/heartbeats/{heartbeatId}': ['runs:read'],
  'GET /v1/host/gantry/heartbeats/{heartbeatId}/ticks': ['runs:read'],
  'DELETE /v1/host/gantry/heartbeats/{heartbeatId}': ['runs:create'],
  'GET /v1/host/gantry/packs': ['packs:read'],
  'POST /v1/host/gantry/packs': ['packs:install'],
  'GET /v1/host/gantry/packs/{name}': ['packs:read'],
  'DELETE /v1/host/gantry/packs/{name}': ['packs:install'],
  'POST /v1/host/gantry/packs/{name}/grants': ['packs:install'],
  'GET /v1/host/gantry/packs/{name}/receipts': ['packs:read'],
  'GET /v1/host/gantry/keys': ['keys:manage'],
  'POST /v1/host/gantry/keys': ['keys:manage'],
  'POST /v1/host/gantry/keys/{keyId}/rotate': ['keys:manage'],
  'DELETE /v1/host/gantry/keys/{keyId}': ['keys:manage'],
  'POST /v1/host/sample/scheduling/tick': ['runs:create'],
  'POST /v1/host/sample/heartbeat/tick': ['runs:create'],
  'POST /v1/host/sample/deadletter/exhaust': ['runs:create', 'runs:read'],
  'POST /v1/host/sample/governance/approval-gate': ['runs:create', 'approvals:respond'],
  'POST /v1/host/sample/dispatch/fanout': ['workflows:write', 'runs:create'],
  'POST /v1/host/sample/subrun/attest': ['workflows:write', 'runs:create', 'approvals:respond'],
  'POST /v1/host/sample/agentloop/run': ['runs:create', 'approvals:respond'],
  'POST /v1/host/sample/trigger-bridge/deliver': ['webhooks:manage', 'runs:create'],
  'POST /v1/host/sample/chain/deferred-expand': ['workflows:write'],
  'POST /v1/host/sample/workflow-chain:expand': ['workflows:write'],
  'POST /v1/host/sample/packs/install-gate': ['packs:read'],
  'POST /v1/host/sample/test/sandbox-load': ['packs:install'],
  'POST /v1/host/sample/test/sandbox-invoke': ['packs:install'],
  'POST /v1/host/sample/authorization/decide': ['keys:manage'],
  'POST /v1/host/sample/test/llm-cache-key': ['runs:read'],
  'GET /v1/host/sample/test/runs/{runId}/events': ['runs:read'],
  'GET /v1/host/sample/test/runs/{runId}/variables': ['runs:read'],
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
