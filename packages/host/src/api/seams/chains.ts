/** Expands chains that are part of the request, in the same way as the editor and `from-chain`. */
import { type Api, callerOf } from '@gantry/http';
import {
  type ChainExpansion,
  type ExpandOptions,
  expandChain,
  expandDeferred,
  instantiateChain,
  readChain,
} from '@gantry/packs';
import { type JsonObject, OpenwopError, runOwnerOf, Values } from '@gantry/protocol';
import type { RunKey } from '@gantry/store';
import Type, { type Static } from 'typebox';
import type { PackRecords } from '../../packs/pack-records.ts';
import type { Packs } from '../../packs/packs.ts';
import { createForks } from '../../runtime/fork.ts';
import { chainOptions } from '../../workflows/chain-options.ts';
import type { ApiDeps } from '../context.ts';
import { seamIdFor } from './definition.ts';
import type { Drive } from './drive.ts';
import { seam, seamAt } from './seam.ts';

const Id = Type.String({ minLength: 1, maxLength: 256 });

const Expand = Type.Object({
  packName: Id,
  chainId: Id,
  parameters: Type.Optional(Values),
  /** The chain itself, instead of one of an installed pack. */
  chain: Type.Optional(Values),
});
const Expanded = Type.Object({
  expansionId: Type.String(),
  chainId: Type.String(),
  packName: Type.String(),
  packVersion: Type.String(),
  nodes: Type.Array(Values),
  edges: Type.Array(Values),
});

const Defer = Type.Object({
  chain: Type.Optional(Values),
  values: Type.Optional(Values),
  /** A chain of the suite, which is run with `override`, and forked on request. */
  chainId: Type.Optional(Id),
  params: Type.Optional(Values),
  override: Type.Optional(Values),
  fork: Type.Optional(Type.Boolean()),
});

/** Members that a caller may omit if it only wants the parameters. */
const REST_OF_CHAIN = {
  chainId: 'conformance.seam',
  version: '1.0.0',
  label: 'Conformance',
  description: 'Of a seam.',
  dag: { nodes: [{ id: 'work', typeId: 'core.noop' }] },
};

/** Its one node outputs its one parameter. */
const RUN_CHAIN = 'conformance.deferred';
const SHOWN = {
  ...REST_OF_CHAIN,
  chainId: RUN_CHAIN,
  parameters: { type: 'object', properties: { topic: { type: 'string' } } },
  dag: { nodes: [{ id: 'show', typeId: 'core.identity', inputs: { payload: '{{params.topic}}' } }] },
};

export function chainSeams(
  app: Api,
  deps: ApiDeps,
  { records, knownTypes }: Pick<Packs, 'records' | 'knownTypes'>,
  drive: Drive,
): void {
  const forks = createForks({ ...deps, runs: deps.store.runs });
  const shownBy = async (key: RunKey) => Object((await drive.atRest(key)).snapshot.outputs).payload;
  const [url, options] = seamAt('workflow-chain:expand', { body: Expand, response: { 200: Expanded } });
  app.post(url, { ...options, attachValidation: true }, async (request) => {
    if (request.validationError) throw new OpenwopError('invalid_request');
    const { tenant } = callerOf(request);
    const named = await chainOf(records, tenant, request.body);
    return expand(named, request.body, chainOptions(await knownTypes(tenant)));
  });
  seam(app, 'chain/deferred-expand', Defer, async (caller, body) => {
    const { tenant } = caller;
    const options = chainOptions(await knownTypes(tenant));
    if (body.chainId !== RUN_CHAIN) return defer(body, options);
    const { definition } = instantiateChain(
      { packName: 'conformance', chain: readChain(SHOWN) },
      (body.params ?? {}) as JsonObject,
      {
        ...options,
        workflowId: seamIdFor('deferred', (body.params ?? {}) as JsonObject),
        parameters: 'deferred',
        subChains: undefined,
      },
    );
    const key = await drive.start(caller, [definition], {}, body.override as JsonObject | undefined);
    const resolved = await shownBy(key);
    if (!body.fork) return { resolved, variables: [] };
    const prepared = await forks.prepare(await drive.atRest(key), {
      mode: 'replay',
      fromSeq: 0,
      changes: { owner: runOwnerOf(caller) },
    });
    const forked = await deps.runtime.adopt(prepared);
    if (forked.kind !== 'created') throw new OpenwopError('conflict');
    return { resolved, forkResolved: await shownBy({ tenant, runId: forked.runId }), variables: [] };
  });
}

interface NamedChain {
  readonly chain: ReturnType<typeof readChain>;
  readonly packVersion?: string;
}

/** The chain of the request, or one of an installed pack. */
async function chainOf(
  records: PackRecords,
  tenant: string,
  { packName, chainId, chain: given }: Static<typeof Expand>,
): Promise<NamedChain> {
  if (given !== undefined) return { chain: readChain(given) };
  const [pack] = await records.versionsOf(tenant, packName);
  if (!pack) throw new OpenwopError('pack_not_found', { details: { packName } });
  const { chains, version } = await records.version(pack.record.integrity);
  const chain = chains.find((candidate) => candidate.chainId === chainId);
  if (!chain) throw new OpenwopError('chain_not_found', { details: { chainId } });
  return { chain, packVersion: version };
}

function expand(
  { chain, packVersion }: NamedChain,
  { packName, chainId, parameters = {} }: Static<typeof Expand>,
  options: ExpandOptions,
) {
  if (chain.chainId !== chainId) throw new OpenwopError('chain_not_found', { details: { chainId } });
  const { expandedFrom, fragment } = expandChain(chain, parameters as JsonObject, options);
  const { chainVersion, expansionId } = expandedFrom;
  return { expansionId, chainId, packName, packVersion: packVersion ?? chainVersion, ...fragment };
}

function defer({ chain: given, values = {} }: Static<typeof Defer>, options: ExpandOptions): object {
  if (given === undefined) throw new OpenwopError('chain_not_found');
  const chain = readChain({ ...REST_OF_CHAIN, ...given });
  const expansion = expandDeferred(chain, values as JsonObject, options);
  return { variables: bareVariables(expansion) };
}

/** The variables by the names under which runs set them. */
function bareVariables({ variables, deferral }: ChainExpansion): object[] {
  const byName = new Map(variables.map((variable) => [variable.name, variable]));
  return Object.entries(deferral?.aliases ?? {}).flatMap(([name, alias]) => {
    const variable = byName.get(alias);
    if (!variable) return [];
    const { type, required = false, format } = variable;
    return [{ name, type, required, ...(format !== undefined && { format }) }];
  });
}
