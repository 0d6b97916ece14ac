/** Models and envelopes: four services, since prompts open between them. */
import type { EgressByPurpose } from '@gantry/egress';
import { aiRoutes } from '../api/ai.ts';
import type { Credentials } from '../credentials/credentials.ts';
import { feature } from '../feature.ts';
import type { Parts } from '../parts.ts';
import type { PromptLibrary } from '../prompts/prompt-library.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Settings } from '../settings.ts';
import { type Ai, type AiOptions, createAi } from './ai.ts';
import { EnvelopeTasks, envelopeNode } from './conformance-envelope.ts';
import { coreAiExecutors } from './core-nodes.ts';
import { Envelopes, judged } from './envelopes.ts';
import { createEnvelopesPort } from './envelopes-port.ts';
import { LEDGER, type Limits, NANO_USD, USAGE } from './ledger.ts';
import { MEDIA, MediaStore, type MediaStoreOptions } from './media-store.ts';
import { MockPrograms } from './mock-programs.ts';
import { createModelGate, type ModelGate } from './model-gate.ts';
import { modelSource } from './model-source.ts';
import { readAiConfig } from './providers/config.ts';
import { Providers } from './providers/providers.ts';

/** What the public conformance suite sets, if its seams are served. */
export const conformanceFeature = feature({
  name: 'conformance',
  kinds: [],
  open: ({ settings: { testSeams } }: { readonly settings: Pick<Settings, 'testSeams'> }) =>
    testSeams ? { tasks: new EnvelopeTasks(), programs: new MockPrograms() } : {},
});

interface Conformance {
  readonly tasks?: EnvelopeTasks;
  readonly programs?: MockPrograms;
}

interface ProvidersNeeds extends Pick<Parts, 'store' | 'now'> {
  readonly credentials: Pick<Credentials, 'open' | 'service'>;
  readonly egress: EgressByPurpose;
  readonly settings: Pick<Settings, 'ai' | 'ollamaHost' | 'aiKeys' | 'testSeams'>;
}

export const providersFeature = feature({
  name: 'providers',
  kinds: [],
  open: ({ settings, ...parts }: ProvidersNeeds) =>
    new Providers({
      ...parts,
      config: readAiConfig(settings.ai),
      ollamaHost: settings.ollamaHost,
      keys: settings.aiKeys,
    }),
});

type AiParts = Omit<
  AiOptions,
  'store' | 'source' | 'media' | 'egress' | 'projectLimits' | 'videoWaitMs' | 'clock'
>;

interface AiNeeds extends AiParts, Pick<Parts, 'store' | 'changes'>, Pick<MediaStoreOptions, 'address'> {
  readonly providers: Providers;
  readonly egress: EgressByPurpose;
  readonly settings: Pick<
    Settings,
    'ai' | 'testSeams' | 'budgetEnforce' | 'budgetTokensPerDay' | 'budgetCostUsdPerDay'
  >;
}

export const aiFeature = feature({
  name: 'ai',
  kinds: [LEDGER, USAGE, MEDIA],
  open({ providers, changes, settings, egress, ...parts }: AiNeeds) {
    const source = modelSource(providers);
    const { testSeams } = settings;
    return {
      ...createAi({
        ...parts,
        source,
        media: new MediaStore(parts),
        egress: egress.public,
        projectLimits: projectLimits(settings),
        videoWaitMs: readAiConfig(settings.ai).videoWaitMs,
        clock: systemClock,
      }),
      modelGate: createModelGate({ source, providers, changes, testSeams }),
    };
  },
  routes: (app, ai, _, { providers }) => aiRoutes(app, providers, ai),
});

interface EnvelopesNeeds extends Pick<Parts, 'store' | 'changes'> {
  readonly conformance: Conformance;
}

export const envelopesFeature = feature({
  name: 'envelopes',
  kinds: [judged],
  open: ({ store, changes }: EnvelopesNeeds) => new Envelopes(changes, store.entries),
  executors: (envelopes, { conformance }) => ({
    'conformance.envelope': envelopeNode(envelopes, conformance.tasks),
  }),
});

interface CoreAiNeeds extends Pick<Parts, 'redactions' | 'now'> {
  readonly ai: Ai & { readonly modelGate: ModelGate };
  readonly envelopes: Envelopes;
  readonly prompts: PromptLibrary;
  readonly conformance: Conformance;
}

export const coreAiFeature = feature({
  name: 'coreAi',
  kinds: [],
  open: (parts: CoreAiNeeds) => ({ envelopesPort: createEnvelopesPort(parts) }),
  executors: (_, { conformance, ...parts }) =>
    coreAiExecutors({ ...parts, modelGate: parts.ai.modelGate, programs: conformance.programs }),
});

function projectLimits({
  budgetEnforce,
  budgetTokensPerDay: tokens,
  budgetCostUsdPerDay: usd,
}: AiNeeds['settings']): Limits {
  if (budgetEnforce === 'advisory') return {};
  return {
    ...(tokens !== undefined && { tokens }),
    ...(usd !== undefined && { cost: Math.round(usd * NANO_USD) }),
  };
}
