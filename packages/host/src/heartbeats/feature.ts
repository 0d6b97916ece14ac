import { heartbeatsWire } from '@gantry/protocol';
import { unknownInputsOf } from '../api/unknown-names.ts';
import { feature } from '../feature.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { heartbeats, heartbeatTicks } from './heartbeat.ts';
import { createHeartbeats, type HeartbeatsOptions } from './heartbeats.ts';

interface Needs extends Omit<HeartbeatsOptions, 'outbox'> {
  readonly webhooks: Pick<Webhooks, 'outbox'>;
}

export const heartbeatsFeature = feature({
  name: 'heartbeats',
  kinds: [heartbeats, heartbeatTicks],
  open: ({ webhooks, ...parts }: Needs) => createHeartbeats({ ...parts, outbox: webhooks.outbox }),
  resources: ({ service }, { workflows }) => [[heartbeatsWire, service, unknownInputsOf(workflows)]],
});
