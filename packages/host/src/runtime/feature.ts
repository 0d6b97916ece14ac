import { feature, type Offers } from '../feature.ts';
import type { Packs } from '../packs/packs.ts';
import type { Settings } from '../settings.ts';
import type { WorkflowsWithPlans } from '../workflows/workflows.ts';
import { LocalRuntime, type RuntimeOptions } from './local-runtime.ts';
import { MAIL } from './mail.ts';
import { PoisonGuard, SUSPECT } from './poison.ts';
import { THROWN } from './unexpected-errors.ts';

type Made =
  | 'dataDir'
  | 'inflightCap'
  | 'planOf'
  | 'resolve'
  | 'packExecutor'
  | 'executors'
  | 'outbox'
  | 'poison';

interface Needs extends Omit<RuntimeOptions, Made> {
  readonly settings: Pick<Settings, 'dataDir' | 'inflightCap' | 'poisonEnds'>;
  readonly packs: Pick<Packs, 'executor'>;
  readonly workflows: Pick<WorkflowsWithPlans, 'planOf' | 'resolve'>;
  readonly offers: Offers;
}

export const runtimeFeature = feature({
  name: 'runtime',
  kinds: [MAIL, SUSPECT, THROWN],
  open: ({ settings, packs, workflows: { planOf, resolve }, offers, ...parts }: Needs) =>
    LocalRuntime.open({
      ...parts,
      ...offers.take(),
      planOf,
      resolve,
      dataDir: settings.dataDir,
      inflightCap: settings.inflightCap,
      packExecutor: packs.executor,
      poison: new PoisonGuard({ ...parts, endsMax: settings.poisonEnds }),
    }),
});
