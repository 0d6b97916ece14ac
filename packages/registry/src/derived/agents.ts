/** The agents that published packs bring, as their manifests declare them. */
import type { Json, JsonObject } from '@gantry/protocol';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { byRevision } from './by-revision.ts';

/** Manifests of a pack's newest usable version, by pack. */
export type PublishedAgents = ReadonlyMap<string, readonly JsonObject[]>;

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const publishedAgents = (catalogue: Catalogue): (() => Promise<PublishedAgents>) =>
  byRevision(catalogue, async () => {
    const agents = new Map<string, readonly JsonObject[]>();
    for (const { name, latest, agentCount, yanked } of catalogue.summaries()) {
      if (agentCount === 0 || yanked) continue;
      const declared = (await catalogue.version(name, latest))?.manifest.agents;
      if (Array.isArray(declared)) agents.set(name, declared.filter(isObject));
    }
    return agents;
  });
