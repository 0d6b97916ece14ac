import { DAY_MS } from '../deliveries/delivery.ts';
import { feature } from '../feature.ts';
import type { Parts } from '../parts.ts';
import type { Settings } from '../settings.ts';
import { createInterruptTokens } from './interrupt-token.ts';
import { linkRevocations, revocations } from './link-revocations.ts';

interface Needs extends Pick<Parts, 'store' | 'changes' | 'masterKey' | 'now'> {
  readonly settings: Pick<Settings, 'interruptLinkDays'>;
}

export const interruptTokensFeature = feature({
  name: 'interruptTokens',
  kinds: [revocations],
  open: ({ masterKey, settings, now, ...parts }: Needs) =>
    createInterruptTokens({
      hmac: masterKey.hmac('interrupt-token'),
      now,
      personalMs: settings.interruptLinkDays * DAY_MS,
      revocations: linkRevocations(parts),
    }),
});
