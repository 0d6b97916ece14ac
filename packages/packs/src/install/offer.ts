import { capabilityName } from '@gantry/protocol';
import type { PackKind } from '../manifest/kinds.ts';
import type { RuntimeLanguage } from '../manifest/runtime.ts';

/** What a host offers to packs, as its discovery says it. */
export interface HostOffer {
  /** The protocol version that `engines.openwop` is judged by. */
  readonly protocolVersion: string;
  /**
   * Capabilities by any of their names, such as `aiProviders` or `host.kanban`; the values are levels or versions
   * that a peer dependency may ask for, such as `longTerm`.
   */
  readonly capabilities: ReadonlyMap<string, readonly string[]>;
  /** Languages that run here, without WebAssembly, which has versions. */
  readonly languages: ReadonlySet<Exclude<RuntimeLanguage, 'wasm'>>;
  /** ABI versions; empty when the host runs no WebAssembly. */
  readonly wasmAbiVersions: readonly number[];
  /** Primitives of `runtime.requires` that packs get here. */
  readonly grants: readonly string[];
  readonly kinds: ReadonlySet<PackKind>;
  /** Types of the host itself, which no pack replaces. */
  readonly builtInTypeIds: ReadonlySet<string>;
}

/** A swarm runtime can do what the floor of agent manifests asks for. */
const IMPLIED: Readonly<Record<string, readonly string[]>> = { agentRuntime: ['agents.manifestRuntime'] };

/** Capability by its short name, with what others imply. */
export function offeredCapabilities(offer: HostOffer): Map<string, readonly string[]> {
  const offered = new Map<string, readonly string[]>();
  for (const [name, levels] of offer.capabilities) {
    const short = capabilityName(name);
    for (const implied of IMPLIED[short] ?? []) if (!offered.has(implied)) offered.set(implied, []);
    offered.set(short, levels);
  }
  return offered;
}
