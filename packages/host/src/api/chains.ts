/** Workflow chains: fragments with parameters that become workflows. */
import { instantiateChain, type PackedChain, readChain } from '@gantry/packs';
import { type JsonObject, OpenwopError } from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import { chainOptions, newExpansionId, sha256 } from '../workflows/chain-options.ts';
import { type Api, type ApiDeps, callerOf } from './context.ts';
import type { Idempotency } from './idempotency.ts';

const PACK_NAME = 'private.inline';
const CHAINS_MAX = 50;

/** The first chain is the root; the others are its siblings, which it may compose. */
const FromChainRequest = Type.Object(
  {
    chainId: Type.String({ minLength: 1, maxLength: 128 }),
    chains: Type.Array(Type.Record(Type.String(), Type.Unknown()), { minItems: 1, maxItems: CHAINS_MAX }),
    parameters: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    workflowId: Type.Optional(Type.String({ pattern: '^[a-z][a-z0-9_-]*$', maxLength: 128 })),
    /** Parameters stay variables of the workflow that each run may set anew. */
    deferred: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

const FromChainResponse = Type.Object({
  workflowId: Type.String(),
  subChainWorkflowIds: Type.Array(Type.String()),
  nodeCount: Type.Integer(),
});

export function chainRoutes(app: Api, deps: ApiDeps, idempotency: Idempotency): void {
  app.post(
    '/v1/host/gantry/workflows/from-chain',
    {
      schema: {
        summary: 'Expand a workflow chain and register what comes of it',
        body: FromChainRequest,
        response: { 201: FromChainResponse },
      },
    },
    (request, reply) =>
      idempotency.answer(request, reply, 'POST /v1/host/gantry/workflows/from-chain', async () => {
        const body = await fromChain(deps, callerOf(request).tenant, request.body);
        return { status: 201, body: JSON.stringify(body), recorded: false };
      }),
  );
}

async function fromChain(
  { workflows }: ApiDeps,
  tenant: string,
  request: Static<typeof FromChainRequest>,
): Promise<Static<typeof FromChainResponse>> {
  const { chainId, chains, parameters = {}, deferred = false } = request;
  const packed = chains.map((chain): PackedChain => ({ packName: PACK_NAME, chain: readChain(chain) }));
  const find = (id: string): PackedChain | undefined => packed.find(({ chain }) => chain.chainId === id);
  const root = find(chainId);
  if (!root) throw new OpenwopError('chain_not_found', { message: `No chain in the request is ${chainId}.` });
  const { definition, children } = instantiateChain(root, parameters as JsonObject, {
    ...chainOptions(newExpansionId()),
    workflowId: request.workflowId ?? workflowIdOf(chainId, parameters, deferred),
    parameters: deferred ? 'deferred' : 'written-down',
    subChains: {
      tenantId: tenant,
      sha256,
      resolve: (ref) => find(typeof ref === 'string' ? ref : ref.chainId),
    },
  });
  await workflows.registerAll(tenant, [...children, definition]);
  return {
    workflowId: definition.id,
    subChainWorkflowIds: children.map(({ id }) => id),
    nodeCount: definition.nodes.length,
  };
}

/** The same chain with the same parameters is the same workflow; with others it is another. */
function workflowIdOf(chainId: string, parameters: object, deferred: boolean): string {
  const slug = chainId.toLowerCase().replaceAll('.', '_');
  return deferred ? slug : `${slug}_${sha256(JSON.stringify(parameters)).slice(0, 12)}`;
}
