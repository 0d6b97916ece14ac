/** Workflow chains: fragments with parameters that become workflows. */
import { type Api, callerOf, type Idempotency } from '@gantry/http';
import { instantiateChain, type PackedChain, readChain } from '@gantry/packs';
import { closedObject, type JsonObject, OpenwopError } from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import type { PackRecords } from '../packs/pack-records.ts';
import { chainOptions, sha256 } from '../workflows/chain-options.ts';
import type { ApiDeps } from './context.ts';

/** Where chains that came with the request are siblings. */
const INLINE = 'private.inline';
const CHAINS_MAX = 50;

/** A chain of an installed pack, or chains in the request; the root may compose its siblings. */
const FromChainRequest = closedObject({
  chainId: Type.String({ minLength: 1, maxLength: 128 }),
  packName: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  chains: Type.Optional(
    Type.Array(Type.Record(Type.String(), Type.Unknown()), { minItems: 1, maxItems: CHAINS_MAX }),
  ),
  parameters: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  workflowId: Type.Optional(Type.String({ pattern: '^[a-z][a-z0-9_-]*$', maxLength: 128 })),
  /** Parameters stay variables of the workflow that each run may set anew. */
  deferred: Type.Optional(Type.Boolean()),
});

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
  { workflows, services }: ApiDeps,
  tenant: string,
  request: Static<typeof FromChainRequest>,
): Promise<Static<typeof FromChainResponse>> {
  const { chainId, parameters = {}, deferred = false } = request;
  const packed = await chainsOf(services.packs.records, tenant, request);
  const find = (id: string): PackedChain | undefined => packed.find(({ chain }) => chain.chainId === id);
  const root = find(chainId);
  if (!root) throw new OpenwopError('chain_not_found', { message: `There is no chain ${chainId} here.` });
  const { definition, children } = instantiateChain(root, parameters as JsonObject, {
    ...chainOptions(await services.packs.knownTypes(tenant)),
    workflowId: request.workflowId ?? workflowIdOf(chainId, parameters, deferred),
    parameters: deferred ? 'deferred' : 'written-down',
    subChains: {
      tenantId: tenant,
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

async function chainsOf(
  records: PackRecords,
  tenant: string,
  { packName, chains }: Static<typeof FromChainRequest>,
): Promise<PackedChain[]> {
  if ((packName === undefined) === (chains === undefined))
    throw new OpenwopError('validation_error', { message: 'Give either `packName` or `chains`.' });
  if (packName === undefined)
    return (chains ?? []).map((chain) => ({ packName: INLINE, chain: readChain(chain) }));
  const [pack] = await records.versionsOf(tenant, packName);
  if (!pack) throw new OpenwopError('pack_not_found', { details: { packName } });
  const version = await records.version(pack.record.integrity);
  return version.chains.map((chain) => ({ packName, chain }));
}

/** The same chain with the same parameters is the same workflow; with others it is another. */
function workflowIdOf(chainId: string, parameters: object, deferred: boolean): string {
  const slug = chainId.toLowerCase().replaceAll('.', '_');
  return deferred ? slug : `${slug}_${sha256(JSON.stringify(parameters)).slice(0, 12)}`;
}
