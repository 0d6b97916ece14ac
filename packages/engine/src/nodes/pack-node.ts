/** Node types from packs. Their code runs outside the process; this file has what the engine needs to know. */
import type { JsonObject } from '@gantry/protocol';
import type { SyncOn } from '../artifacts/node-artifact.ts';
import type { SchemaCheck } from '../schema.ts';
import { failed, type NodeType, type Preparation, type Visit } from './node-type.ts';

/** Whether a node may run again when its outcome is unknown: a pure or idempotent one may, others never run twice. */
export type PackEffect = 'pure' | 'idempotent' | 'effect';

export interface PackNodeType {
  readonly typeId: string;
  readonly packName: string;
  readonly packVersion: string;
  /** The integrity of the archive that contains the code. */
  readonly integrity: string;
  readonly effect: PackEffect;
  readonly configSchema?: JsonObject;
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly sensitiveOutputs: readonly string[];
  readonly artifact?: { readonly typeId?: string; readonly syncOn?: SyncOn };
}

/** The pack that serves a type in one workflow. */
export type PackTypes = (typeId: string) => PackNodeType | undefined;

export const packNode = (pack: PackNodeType): NodeType => ({
  typeId: pack.typeId,
  leavesProcess: true,
  pack,
  prepare(preparation) {
    for (const output of pack.sensitiveOutputs) preparation.markSensitive(output);
    checkConfig(preparation, pack);
    const inputs = pack.inputSchema && preparation.schema('', pack.inputSchema);
    const { config } = preparation;
    return {
      execute: (visit) => misfitOf(inputs, config, visit) ?? { kind: 'dispatched' },
      // The answer is kept with the node, which runs again: the pack is called again and receives it.
      answered: () => {},
      // The same applies to the end of a child that it called. The call provides the inputs, so nothing is mapped.
      childEnded: () => {},
      children: { mappingOf: () => NOTHING_MAPPED, propagateCancellation: true },
    };
  },
});

const NOTHING_MAPPED = { inputs: {}, outputs: {} };

function checkConfig({ config, issue, schema }: Preparation, { configSchema }: PackNodeType): void {
  const misfit = configSchema && schema('', configSchema)?.(config);
  if (misfit) issue(misfit.path.replace(/^\//, ''), misfit.message);
}

/** Packs read `{...config, ...inputs}`, so an author may set an input in either. */
function misfitOf(check: SchemaCheck | undefined, config: JsonObject, { inputs }: Visit) {
  const misfit = check?.(inputs);
  if (!misfit || !check?.({ ...config, ...inputs })) return;
  return failed('validation_error', `The inputs of the node: ${misfit.path || '/'} ${misfit.message}.`);
}
