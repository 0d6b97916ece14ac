import * as ast from 'typescript/unstable/ast';
import { isTestCode } from './files.ts';
import { descendants, place, type Trees } from './syntax.ts';

const KINDS = new Set([
  'createRun',
  'append',
  'idempotency',
  'claimInvocation',
  'settleInvocation',
  'tellInvocation',
  'putDefinition',
  'putWorkflow',
  'putKey',
  'putEntry',
  'deleteEntry',
  'expectEntry',
  'expectLease',
  'adjust',
]);

/** Files and folders that build writes of the store. All other code changes records through `changes.run`. */
export const BUILDERS: Readonly<Record<string, string>> = {
  'packages/store/': 'the store itself',
  'packages/resources/': 'changes',
  'packages/host/src/runtime/': 'runs, and mail between them',
  'packages/host/src/ai/': 'the ledger, written with the claim and the record of a model call',
  'packages/host/src/credentials/act.ts': 'what happens to keys, written with them',
  'packages/host/src/master-key.ts': 'the check of the master key',
  'packages/host/src/store-health.ts': 'the probe of the store',
  'packages/host/src/workflows/': 'workflows and their definitions',
  'packages/host/src/packs/': 'pack records',
  'packages/host/src/artifacts/artifact-record.ts': 'artifacts, written by the actor of a run',
  'packages/host/src/webhooks/outbox.ts': 'outbox: deliveries, written by the actor of a run',
  'packages/host/src/triggers/channel-writes.ts': 'outbox: notes, written by the actor of a run',
  'packages/host/src/triggers/definition-sync.ts': 'notes, written with a workflow',
  'packages/host/src/triggers/queue-source/room.ts': 'the mark of a count, written with a workflow too',
  'packages/host/src/triggers/trigger.ts': 'addresses of subscriptions, which belong to no tenant',
  'packages/host/src/dead-letters/dead-letter.ts': 'outbox: written by the actor of a run',
  'packages/http/': 'keys, and records of requests that change no resource',
  'packages/registry/src/catalogue/': 'the catalogue of the registry',
};

export function checkWrites(trees: Trees, builders = BUILDERS): string[] {
  const used = new Set<string>();
  const problems: string[] = [];
  for (const [file, tree] of trees) {
    if (isTestCode(file)) continue;
    for (const node of descendants(tree)) {
      if (!isWrite(node)) continue;
      const builder = Object.keys(builders).find((prefix) => file.startsWith(prefix));
      if (builder === undefined)
        problems.push(`${place(file, tree, node)}: builds a write; change records through changes.run`);
      else used.add(builder);
    }
  }
  for (const builder of Object.keys(builders))
    if (!used.has(builder)) problems.push(`${builder} builds no writes; delete it from test/house/writes.ts`);
  return problems;
}

/** `creation` and `putting` of packages/resources answer a write. */
const isWrite = (node: ast.Node): boolean =>
  ast.isCallExpression(node)
    ? ['creation', 'putting'].includes(node.expression.getText())
    : ast.isPropertyAssignment(node) &&
      node.name.getText() === 'kind' &&
      KINDS.has(/^'(\w+)'/.exec(node.initializer.getText())?.[1] ?? '');
