import type { JsonObject } from '@gantry/protocol';
import { mapObjectStrings } from '../json.ts';
import type { WorkflowChain } from './chain.ts';

/** `<chainId with dots as underscores>_<expansionId>_`, in front of every id that an expansion makes. */
export const expansionPrefix = (chainId: string, expansionId: string): string =>
  `${chainId.replaceAll('.', '_')}_${expansionId}_`;

const NODE_REFERENCE = /(?<![\w.-])nodes\.([A-Za-z0-9_-]+)/g;

export interface Endpoint {
  readonly nodeId: string;
  readonly port: string | undefined;
}

/** The ids of a fragment's nodes, and what they become. Ids from elsewhere stay as they are. */
export class NodeIds {
  readonly #ids: ReadonlySet<string>;
  readonly prefix: string;

  constructor(chain: WorkflowChain, expansionId: string) {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(expansionId)) throw new Error(`not an expansion id: ${expansionId}`);
    this.#ids = new Set(chain.dag.nodes.map(({ id }) => id));
    this.prefix = expansionPrefix(chain.chainId, expansionId);
  }

  renamed(id: string): string {
    return this.#ids.has(id) ? this.prefix + id : id;
  }

  /** `node` or `node.port`. An id may hold a dot, so the whole text is tried first. */
  endpoint(reference: string): Endpoint {
    const dot = reference.indexOf('.');
    if (dot === -1 || this.#ids.has(reference)) return { nodeId: this.renamed(reference), port: undefined };
    return { nodeId: this.renamed(reference.slice(0, dot)), port: reference.slice(dot + 1) };
  }

  /** Renames `nodes.<id>` in the texts of an input mapping. */
  inMapping(mapping: JsonObject): JsonObject {
    return mapObjectStrings(mapping, (text) =>
      text.replace(NODE_REFERENCE, (_reference, id: string) => `nodes.${this.renamed(id)}`),
    );
  }
}
