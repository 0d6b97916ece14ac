/** Triggers are two services: the outbox opens before the runtime, what starts runs after it. */

import type { EgressByPurpose } from '@gantry/egress';
import { triggerSubscriptionsWire } from '@gantry/protocol';
import { ingestRoute } from '../api/ingest.ts';
import { triggerSubscriptionRoutes } from '../api/trigger-subscriptions.ts';
import { feature } from '../feature.ts';
import type { Settings } from '../settings.ts';
import type { Surfaces } from '../surfaces/surfaces.ts';
import type { WorkflowsWithPlans } from '../workflows/workflows.ts';
import { kept, wanted } from './attachments.ts';
import { channelFirings, channelNotes } from './channel-writes.ts';
import { syncNotes } from './definition-sync.ts';
import { deliveries, marks } from './delivery.ts';
import { queueMarks } from './queue-source/room.ts';
import { TRIGGER_ADDRESS, TRIGGER_LISTENER, triggers } from './trigger.ts';
import {
  createTriggerOutbox,
  createTriggers,
  type TriggerOutboxOptions,
  type TriggersOptions,
} from './triggers.ts';

export const triggerOutboxFeature = feature({
  name: 'triggerOutbox',
  kinds: [],
  open: (parts: TriggerOutboxOptions) => createTriggerOutbox(parts),
  outbox: ({ outbox }) => outbox,
});

interface Needs extends Omit<TriggersOptions, 'channelWrites' | 'queue' | 'attachments'> {
  readonly triggerOutbox: Pick<TriggersOptions, 'channelWrites'>;
  readonly workflows: WorkflowsWithPlans;
  readonly surfaces: Pick<Surfaces, 'queue' | 'blobs'>;
  readonly egress: EgressByPurpose;
  readonly settings: Pick<Settings, 'buckets'>;
}

export const triggersFeature = feature({
  name: 'triggers',
  kinds: [
    triggers,
    TRIGGER_ADDRESS,
    TRIGGER_LISTENER,
    syncNotes,
    queueMarks,
    deliveries,
    marks,
    wanted,
    kept,
    channelNotes,
    channelFirings,
  ],
  open({ triggerOutbox: { channelWrites }, surfaces: { queue, blobs }, egress, settings, ...parts }: Needs) {
    const attachments = { egress: egress.public, blobs, bucket: settings.buckets[0] ?? '' };
    const opened = createTriggers({ ...parts, channelWrites, queue, attachments });
    parts.workflows.onChanged(opened.syncTriggers);
    return opened;
  },
  resources: ({ service }) => [[triggerSubscriptionsWire, service]],
  routes(app, { service, ingest }, { idempotency, originOf }) {
    triggerSubscriptionRoutes(app, service, originOf, idempotency);
    ingestRoute(app, ingest);
  },
});
