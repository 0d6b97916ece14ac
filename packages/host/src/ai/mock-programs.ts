/** Answers that the public conformance suite sets for the `mock` provider, by tenant and node. Only with test seams. */
import type { JsonObject } from '@gantry/protocol';
import type { AskingNode } from './ai.ts';

const PROGRAMS_MAX = 1_000;

export class MockPrograms {
  readonly #programs = new Map<string, { readonly script: JsonObject[]; maxTokens?: number }>();

  set(tenant: string, nodeId: string, script: JsonObject[]): void {
    this.#programs.set(keyOf(tenant, nodeId), { script });
    const [oldest] = this.#programs.keys();
    if (this.#programs.size > PROGRAMS_MAX && oldest !== undefined) this.#programs.delete(oldest);
  }

  /** The node, with its program as the script of the run if it has one. */
  for<N extends AskingNode>(node: N, { provider }: JsonObject): N {
    const program = provider === 'mock' && this.#programs.get(keyOf(node.owner.tenant, node.nodeId));
    if (!program) return node;
    const ai = { script: program.script };
    return { ...node, configurable: { ...node.configurable, ai } };
  }

  /** Records the output limit of a request. */
  asked({ owner, nodeId }: AskingNode, maxTokens: number): void {
    const program = this.#programs.get(keyOf(owner.tenant, nodeId));
    if (program) program.maxTokens = maxTokens;
  }

  lastBound(tenant: string, nodeId: string): number | undefined {
    return this.#programs.get(keyOf(tenant, nodeId))?.maxTokens;
  }
}

const keyOf = (tenant: string, nodeId: string): string => `${tenant}\0${nodeId}`;
