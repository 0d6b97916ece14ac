import { surfaceCrashContract } from '../ports/surface-crash-contract.ts';
import { findCrashRabbit } from '../testing/crash-servers.ts';

surfaceCrashContract('RabbitMQ', findCrashRabbit(), {
  works: ['publish', 'consume'],
  settingsOf: (url) => ({ queue: url }),
});
