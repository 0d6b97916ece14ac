import type { Ai } from '../ai/ai.ts';
import { feature } from '../feature.ts';
import type { Parts } from '../parts.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { ARTIFACTS, CONTENTS } from './artifact-record.ts';
import { Artifacts } from './artifacts.ts';
import { COPIES, WorkingCopies } from './working-copies.ts';

interface Needs extends Pick<Parts, 'store' | 'changes'> {
  readonly runtime: Pick<Runtime, 'read'>;
  readonly ai: Pick<Ai, 'media'>;
}

export const artifactsFeature = feature({
  name: 'artifacts',
  kinds: [ARTIFACTS, CONTENTS],
  open: ({ store: { entries }, ai: { media }, runtime }: Needs) => new Artifacts({ entries, runtime, media }),
});

export const workingCopiesFeature = feature({
  name: 'workingCopies',
  kinds: [COPIES],
  open: ({ store: { entries }, ...parts }: Omit<Needs, 'ai'> & { readonly artifacts: Artifacts }) =>
    new WorkingCopies({ entries, ...parts }),
});
