import { deadLettersWire } from '@gantry/protocol';
import { feature } from '../feature.ts';
import { createDeadLetters, type DeadLettersOptions, deadLetters } from './dead-letter.ts';

export const deadLettersFeature = feature({
  name: 'deadLetters',
  kinds: [deadLetters],
  open: (parts: DeadLettersOptions) => createDeadLetters(parts),
  resources: ({ service }) => [[deadLettersWire, service]],
});
