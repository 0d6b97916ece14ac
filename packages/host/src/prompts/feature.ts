import { promptRoutes } from '../api/prompts.ts';
import { feature } from '../feature.ts';
import type { PackRecords } from '../packs/pack-records.ts';
import type { Parts } from '../parts.ts';
import type { Settings } from '../settings.ts';
import { CONFORMANCE_PROMPTS } from './conformance-prompts.ts';
import { ownPrompts, retiredPrompts } from './own-prompts.ts';
import { PromptLibrary } from './prompt-library.ts';

interface Needs extends Pick<Parts, 'store' | 'changes'> {
  readonly packRecords: PackRecords;
  readonly settings: Pick<Settings, 'testSeams'>;
}

export const promptsFeature = feature({
  name: 'prompts',
  kinds: [ownPrompts, retiredPrompts],
  open: ({ packRecords: records, settings, ...parts }: Needs) =>
    new PromptLibrary({ ...parts, records, builtIn: settings.testSeams ? CONFORMANCE_PROMPTS : [] }),
  routes: (app, prompts, { idempotency }) => promptRoutes(app, prompts, idempotency),
});
