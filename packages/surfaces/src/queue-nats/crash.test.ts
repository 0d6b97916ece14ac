import { jetstreamManager } from '@nats-io/jetstream';
import { connect, nanos } from '@nats-io/transport-node';
import { surfaceCrashContract } from '../ports/surface-crash-contract.ts';
import { findCrashNats } from '../testing/crash-servers.ts';

const HURRY_MS = 500;

/** Else what a dead process held comes again after half a minute. */
async function hurry(url: string): Promise<void> {
  const nats = await connect({ servers: new URL(url).host });
  const { streams, consumers } = await jetstreamManager(nats);
  for await (const { config } of streams.list())
    for await (const { name } of consumers.list(config.name))
      await consumers.update(config.name, name, { ack_wait: nanos(HURRY_MS) });
  await nats.close();
}

surfaceCrashContract('NATS', findCrashNats(), {
  works: ['publish', 'consume'],
  settingsOf: (url) => ({ queue: url }),
  forgetsAcks: true,
  hurry,
});
