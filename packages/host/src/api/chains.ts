/** Workflow chains: fragments with parameters that become workflows. */
import { type Api, type Caller, callerOf, type Idempotency } from '@gantry/http';
import { instantiateChain, type PackedChain, readChain } from '@gantry/packs';
import {
  FromChainRequest,
  FromChainResponse,
  invalid,
  type JsonObject,
  OpenwopError,
} from '@gantry/protocol';
import type { PackRecords } from '../packs/pack-records.ts';
import { chainOptions, sha256 } from '../workflows/chain-options.ts';
import { registrantOf } from '../workflows/registrant.ts';
import type { ApiDeps } from './context.ts';

/** The pack name under which chains of one request refer to each other. */
const INLINE = 'private.inline';

export function chainRoutes(app: Api, deps: ApiDeps, idempotency: Idempotency): void {
  app.post(
    '/v1/host/gantry/workflows/from-chain',
    {
      schema: {
        summary: 'Expand a workflow chain and register the result',
        body: FromChainRequest,
        response: { 201: FromChainResponse },
      },
    },
    (request, reply) =>
      idempotency.answer(request, reply, 'POST /v1/host/gantry/workflows/from-chain', async () => {
        const body = await fromChain(deps, callerOf(request), request.body);
        return { status: 201, body: JSON.stringify(body), recorded: false };
      }),
  );
}

async function fromChain(
  { workflows, services }: ApiDeps,
  caller: Caller,
  request: FromChainRequest,
): Promise<FromChainResponse> {
  const { tenant } = caller;
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
  const terms = { replace: true, by: registrantOf(caller) };
  await workflows.registerAll(tenant, [...children, definition], terms);
  return {
    workflowId: definition.id,
    subChainWorkflowIds: children.map(({ id }) => id),
    nodeCount: definition.nodes.length,
  };
}

async function chainsOf(
  records: PackRecords,
  tenant: string,
  { packName, chains }: FromChainRequest,
): Promise<PackedChain[]> {
  if ((packName === undefined) === (chains === undefined))
    throw invalid('Give either `packName` or `chains`.');
  if (packName === undefined)
    return (chains ?? []).map((chain) => ({ packName: INLINE, chain: readChain(chain) }));
  const [pack] = await records.versionsOf(tenant, packName);
  if (!pack) throw new OpenwopError('pack_not_found', { details: { packName } });
  const version = await records.version(pack.record.integrity);
  return version.chains.map((chain) => ({ packName, chain }));
}

/** Equal chains with equal parameters get the same workflow id; other parameters give another id. */
function workflowIdOf(chainId: string, parameters: object, deferred: boolean): string {
  const slug = chainId.toLowerCase().replaceAll('.', '_');
  return deferred ? slug : `${slug}_${sha256(JSON.stringify(parameters)).slice(0, 12)}`;
}
