import type {
  FromChainRequest,
  FromChainResponse,
  RegisteredWorkflow,
  WorkflowCheck,
  WorkflowDefinition,
  WorkflowSummary,
} from '@gantry/protocol';
import { createCalls } from './calls.ts';
import type { Transport } from './transport.ts';

export interface Workflows {
  /**
   * Makes a definition the current version of its id, unless its version is lower. Registering the same
   * content again changes nothing; other content under the same version is refused without `replace`.
   */
  register(definition: unknown, terms?: { readonly replace?: boolean }): Promise<RegisteredWorkflow>;
  /** Every reason for which the definition would be refused. */
  check(definition: unknown): Promise<WorkflowCheck>;
  /** Expands a workflow chain and registers the result. */
  fromChain(request: FromChainRequest): Promise<FromChainResponse>;
  list(): Promise<WorkflowSummary[]>;
  get(workflowId: string): Promise<WorkflowDefinition>;
  versions(workflowId: string): Promise<WorkflowSummary[]>;
  /** Deletes all versions. Refused while runs of it are active; its ended runs are kept. */
  delete(workflowId: string): Promise<{ workflowId: string }>;
}

const REGISTRY = '/v1/host/gantry/workflows';

export function createWorkflows(transport: Transport): Workflows {
  const { read, send, remove } = createCalls(transport);
  return {
    register: (definition, { replace = false } = {}) =>
      send(replace ? `${REGISTRY}?replace=true` : REGISTRY, definition),
    check: (definition) => send(`${REGISTRY}:check`, definition),
    fromChain: (request) => send(`${REGISTRY}/from-chain`, request),
    list: async () => (await read<{ workflows: WorkflowSummary[] }>(REGISTRY)).workflows,
    get: (workflowId) => read(`/v1/workflows/${encodeURIComponent(workflowId)}`),
    delete: (workflowId) => remove(`${REGISTRY}/${encodeURIComponent(workflowId)}`),
    versions: async (workflowId) => {
      const path = `${REGISTRY}/${encodeURIComponent(workflowId)}/versions`;
      return (await read<{ versions: WorkflowSummary[] }>(path)).versions;
    },
  };
}
