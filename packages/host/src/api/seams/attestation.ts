/** A real parent attests and merges the outputs of a child, or rejects them. */
import type { Api } from '@gantry/http';
import {
  invalid,
  isObject,
  type Json,
  type JsonObject,
  Values,
  type WorkflowVariable,
} from '@gantry/protocol';
import Type from 'typebox';
import { definition, node, seamIdFor } from './definition.ts';
import { type Drive, resolver } from './drive.ts';
import { seam } from './seam.ts';

const OUTPUTS_MAX = 64;
const GIVEN = 'given_';
const MERGED = 'merged_';

const Attest = Type.Object({
  childOutputs: Type.Record(Type.String({ minLength: 1, maxLength: 128 }), Type.Unknown(), {
    maxProperties: OUTPUTS_MAX,
  }),
  outputAttestation: Type.Optional(Values),
  approvalAction: Type.Optional(Type.Enum(['accept', 'edit-accept', 'reject'])),
});

function typeOf(name: string, value: Json): WorkflowVariable['type'] {
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  if (value !== null && (type === 'string' || type === 'number' || type === 'boolean' || type === 'object'))
    return type;
  throw invalid(`\`childOutputs.${name}\` is null: a variable without a value is not reported.`, {
    key: `childOutputs.${name}`,
  });
}

/** The child gets its outputs as inputs, since a child reports its variables. */
function family(outputs: JsonObject, outputAttestation: JsonObject) {
  const names = Object.keys(outputs).sort();
  const variables = names.map((name) => ({ name, type: typeOf(name, outputs[name]!) }));
  const prefixed = (prefix: string) => variables.map(({ name, type }) => ({ name: prefix + name, type }));
  const shape = Object.fromEntries(variables.map(({ name, type }) => [name, type]));
  const child = definition(seamIdFor('child', shape), [node('work', 'core.noop')], { variables });
  const config = {
    workflowId: child.id,
    inputMapping: Object.fromEntries(names.map((name) => [name, GIVEN + name])),
    outputMapping: Object.fromEntries(names.map((name) => [MERGED + name, name])),
    outputAttestation,
  };
  const parent = definition(seamIdFor('parent', config), [node('child', 'core.subWorkflow', { config })], {
    variables: [...prefixed(GIVEN), ...prefixed(MERGED)],
  });
  return [child, parent];
}

export function attestationSeam(app: Api, drive: Drive): void {
  seam(app, 'subrun/attest', Attest, async (caller, body) => {
    const outputs = body.childOutputs as JsonObject;
    const given = Object.fromEntries(Object.keys(outputs).map((name) => [GIVEN + name, outputs[name]!]));
    const workflows = family(outputs, (body.outputAttestation ?? {}) as JsonObject);
    const key = await drive.start(caller, workflows, given);
    const asked = await drive.atRest(key);
    if (asked.run.interrupts.get('child')) {
      if (body.approvalAction === undefined) await drive.close(key);
      else await drive.answer(key, answerOf(body.approvalAction, outputs), resolver(caller.principal));
    }
    const { run, snapshot } = await drive.atRest(key);
    const harvested = (await drive.events(key)).find(
      ({ type, payload }) => type === 'core.workflowChain.event' && payload.phase === 'output.harvested',
    );
    const child = run.nodes.get('child');
    const merged = child?.status === 'completed';
    return {
      ...(merged && isObject(child.outputs.attestation) && { attestation: child.outputs.attestation }),
      ...(harvested && { harvestedEvent: { ...harvested } }),
      merged,
      ...(merged && { mergedValues: mergedIn(snapshot.variables as JsonObject) }),
      runId: key.runId,
    };
  });
}

const answerOf = (action: string, outputs: JsonObject): JsonObject =>
  action === 'edit-accept' ? { action, editedArtifactData: outputs } : { action };

function mergedIn(variables: JsonObject): JsonObject {
  const merged = Object.entries(variables).filter(([name]) => name.startsWith(MERGED));
  return Object.fromEntries(merged.map(([name, value]) => [name.slice(MERGED.length), value]));
}
