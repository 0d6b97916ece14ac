/**
 * Artifacts that nodes produce.
 *
 * I1 An artifact of a registered type matches the schema of that type, or its node fails and no artifact event
 *    is emitted.
 * I2 `artifact.created` and the content are decided together: the content is committed with the events of the
 *    decision.
 * I3 A replay decides the same events and stores no content, since its source has stored it.
 */
import type { Json, JsonObject, RunError } from '@gantry/protocol';
import { isObject, own } from '../json.ts';
import { maskOutputs } from '../mask.ts';
import { textAt } from '../payload.ts';
import type { Plan, PlanNode } from '../plan.ts';
import type { NodeState, Run } from '../run.ts';
import { emitNode, type Refusal, type Step } from '../step.ts';
import type { NodeArtifact } from './node-artifact.ts';

/** The content of one version, to be stored in the commit of its event. Secrets are removed. */
export interface MadeArtifact {
  /** Payload of `artifact.created`. */
  readonly created: JsonObject;
  readonly schemaVersion?: number;
  readonly content: Json;
}

/** The last version that has an event. */
export interface ArtifactState {
  readonly version: number;
  /** The visit of its node when the event was emitted. */
  readonly visit: number;
}

type Producer = PlanNode & { readonly artifact: NodeArtifact };

const isProducer = (node: PlanNode): node is Producer => node.artifact !== undefined;

function contentOf({ artifact }: Producer, outputs: JsonObject): Json {
  const content = own(outputs, artifact.output);
  return content === undefined ? outputs : content;
}

/** The content with sensitive values masked. */
export function shownContent(plan: Plan, run: Run, node: PlanNode): Json | undefined {
  const state = run.nodes.get(node.id);
  if (!isProducer(node) || state?.status !== 'completed') return;
  return contentOf(node, maskOutputs(plan, node, state.outputs));
}

/** Why a node cannot complete with these outputs. */
export function artifactMisfit(node: PlanNode, outputs: JsonObject): RunError | undefined {
  const misfit = isProducer(node) && node.artifact.registered?.check(contentOf(node, outputs));
  if (!misfit) return;
  const { typeId } = node.artifact;
  const path = misfit.path || '/';
  const message = `The artifact of ${node.id} does not fit its type ${typeId}: ${path} ${misfit.message}.`;
  return { code: 'artifact_invalid', message, details: { path, artifactType: typeId } };
}

/**
 * Emits the artifact events at the end of a node: for its own artifact, or for those that it approved. `before`
 * is its previous state.
 */
export function tellArtifacts(
  step: Step,
  node: PlanNode,
  outputs: JsonObject,
  before: NodeState | undefined,
): void {
  if (node.reviews && outputs.approved === true) {
    const edited = maskOutputs(step.plan, node, outputs).editedArtifactData;
    for (const producer of reviewed(step, node)) create(step, producer, edited);
    return;
  }
  if (!isProducer(node)) return;
  const { syncOn } = node.artifact;
  if (syncOn === 'completion' || (syncOn === 'approval' && wasApproved(before))) create(step, node);
}

/** Pack code may request the approval itself: its last one counts. */
function wasApproved(state: NodeState | undefined): boolean {
  const answers = state?.status === 'running' ? Object.values(state.answers ?? {}) : [];
  const last = answers.findLast((answer) => isObject(answer) && typeof answer.approved === 'boolean');
  return isObject(last) && last.approved === true;
}

const SUMMARY_MAX = 200;
const TITLES = ['title', 'name', 'summary'];

function create(step: Step, node: Producer, content?: Json, registeredBy?: string): void {
  const { plan, run } = step;
  const { id, typeId, registered } = node.artifact;
  const shown = content ?? shownContent(plan, run, node) ?? null;
  const clean = plan.redact?.(shown) ?? shown;
  const created: JsonObject = {
    artifactId: id,
    artifactType: typeId,
    nodeId: node.id,
    version: String((run.artifacts.get(id)?.version ?? 0) + 1),
    registered: registered !== undefined,
  };
  if (registered) created.registrationSource = 'pack';
  const title = isObject(clean) && TITLES.map((name) => textAt(clean, name)).find((text) => text !== '');
  if (title) created.summary = title.slice(0, SUMMARY_MAX);
  if (registeredBy !== undefined) created.registeredBy = registeredBy;
  const { schemaVersion } = registered ?? {};
  step.artifacts.push({ created, content: clean, ...(schemaVersion !== undefined && { schemaVersion }) });
  emitNode(step, node.id, 'artifact.created', created);
}

/** Whether the artifact of the node's current visit exists but has no event yet. */
function isPending(run: Run, node: PlanNode): node is Producer {
  if (!isProducer(node) || run.nodes.get(node.id)?.status !== 'completed') return false;
  return run.artifacts.get(node.artifact.id)?.visit !== run.visits.get(node.id);
}

/** Artifacts that wait for an approval or to be stored manually. */
export const pendingArtifacts = (plan: Plan, run: Run) =>
  plan.order.flatMap((node) => {
    if (!isPending(run, node) || node.artifact.syncOn === 'completion') return [];
    const { id: artifactId, typeId: artifactType, syncOn } = node.artifact;
    return [{ artifactId, artifactType, nodeId: node.id, syncOn }];
  });

/** Artifacts upstream of a gate that wait for an approval; only of the gate's type, if it names one. */
export function reviewed({ run }: Step, gate: PlanNode): readonly (Producer & PlanNode)[] {
  if (!gate.reviews) return [];
  const { artifactType, config } = gate.definition;
  const wanted = artifactType ?? (typeof config.artifactType === 'string' ? config.artifactType : undefined);
  return [...upstream(gate)]
    .filter((node) => isPending(run, node))
    .filter(({ artifact: { syncOn, typeId } }) => syncOn === 'approval' && typeId === (wanted ?? typeId));
}

function upstream(node: PlanNode): Set<PlanNode> {
  const found = new Set<PlanNode>();
  const open = [node];
  for (let next = open.pop(); next; next = open.pop())
    for (const { source } of next.incoming) {
      if (found.has(source)) continue;
      found.add(source);
      open.push(source);
    }
  return found;
}

/** The edited artifact of an approver must match its type as well. */
export function editRefusal(step: Step, gate: PlanNode, edited: Json): Refusal | undefined {
  const producers = reviewed(step, gate);
  if (producers.length > 1)
    return {
      code: 'validation_error',
      message: `The gate reviews ${producers.length} artifacts; edit-accept is for a single one.`,
      details: { path: '/editedArtifactData' },
    };
  const misfit = producers[0]?.artifact.registered?.check(edited);
  return misfit && misfitRefusal(producers[0]!, `/editedArtifactData${misfit.path}`, misfit.message);
}

export const misfitRefusal = ({ artifact }: PlanNode, path: string, message: string): Refusal => ({
  code: 'validation_error',
  message: `The artifact does not fit its type ${artifact?.typeId}: ${path || '/'} ${message}.`,
  details: { path: path || '/', artifactType: artifact?.typeId ?? '' },
});

/** An edited version of an artifact, based on `base`, the last version at that time. */
export interface EditedArtifact {
  readonly content: Json;
  readonly base: number;
}

/** Stores an artifact manually: as its node created it, or as it was edited since. */
export function registerArtifact(
  step: Step,
  { nodeId, by, edited }: { readonly nodeId: string; readonly by: string; readonly edited?: EditedArtifact },
): void {
  const node = step.plan.nodes.get(nodeId);
  const refusal = node && registrationRefusal(step.run, node, edited);
  if (refusal) step.refusal = refusal;
  else if (node && isProducer(node)) create(step, node, edited?.content, by);
}

function registrationRefusal(
  run: Run,
  node: PlanNode,
  edited: EditedArtifact | undefined,
): Refusal | undefined {
  if (run.status !== 'running')
    return {
      code: 'conflict',
      message:
        run.status === 'paused'
          ? 'The run is paused; resume it first.'
          : `The run is ${run.status}, and its log is closed. Artifacts are registered while a run goes on or waits.`,
      details: { runStatus: run.status },
    };
  const version = run.artifacts.get(node.artifact?.id ?? '')?.version ?? 0;
  if (edited && edited.base !== version)
    return {
      code: 'artifact_conflict',
      message: `Version ${version} was stored after the working copy was made. Read it, then write the copy again.`,
      details: { currentVersion: String(version) },
    };
  const misfit = edited && node.artifact?.registered?.check(edited.content);
  if (misfit) return misfitRefusal(node, misfit.path, misfit.message);
  if (edited || isPending(run, node)) return;
  return {
    code: 'conflict',
    message: 'There is nothing to register: the artifact is stored already, or its node has not completed.',
    details: { nodeId: node.id },
  };
}
