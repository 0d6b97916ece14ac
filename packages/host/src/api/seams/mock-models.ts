/** The provider `mock`, which the suite programs, and the check whether a model can do what a node needs. */
import { modelGate, programScript } from '@gantry/ai';
import { type Api, callerOf } from '@gantry/http';
import { closedObject, OpenwopError, optional } from '@gantry/protocol';
import Type from 'typebox';
import type { MockPrograms } from '../../ai/mock-programs.ts';
import type { Providers } from '../../ai/providers/providers.ts';
import { seam, seamAt } from './seam.ts';

const Name = Type.String({ minLength: 1, maxLength: 256 });
const Names = Type.Array(Name);
const Program = closedObject({ nodeId: Name, program: Type.Array(Type.Unknown(), { maxItems: 100 }) });
const Gate = Type.Object({
  module: Type.Object({
    requiredModelCapabilities: optional(Names),
    fallbackModel: optional(Type.Object({ provider: Name, model: Name })),
  }),
  activeProvider: Name,
  activeModel: Name,
  substitutionSupported: Type.Boolean(),
  supportedProviders: Names,
  nodeId: optional(Name),
});

export function mockSeams(app: Api, programs: MockPrograms): void {
  seam(app, 'test/mock-ai/program', Program, async ({ tenant }, { nodeId, program }) => {
    const read = programScript(program);
    if (!('script' in read))
      throw new OpenwopError('validation_error', { details: { problems: read.problems.length } });
    programs.set(tenant, nodeId, JSON.parse(JSON.stringify(read.script)));
    return { ok: true, count: program.length };
  });

  const schema = {
    querystring: closedObject({ nodeId: Name }),
    response: { 200: Type.Object({ maxTokens: Type.Integer() }) },
  };
  app.get(...seamAt('GET test/mock-ai/last-dispatch-budget', schema), async (request) => {
    const maxTokens = programs.lastBound(callerOf(request).tenant, request.query.nodeId);
    if (maxTokens === undefined) throw new OpenwopError('not_found');
    return { maxTokens };
  });
}

export function modelGateSeam(app: Api, providers: Pick<Providers, 'factsOf'>): void {
  seam(app, 'test/evaluate-model-capability-gate', Gate, async (_caller, body) => {
    const { module, activeProvider: provider, activeModel: model, supportedProviders } = body;
    const { event, ...outcome } = modelGate(module, {
      nodeId: body.nodeId ?? 'node',
      active: { provider, model },
      substitutionSupported: body.substitutionSupported,
      capabilitiesOf: (name) => providers.factsOf(name.provider, name.model)?.capabilities ?? [],
      canUse: (name) => supportedProviders.includes(name),
    });
    return { outcome, event };
  });
}
