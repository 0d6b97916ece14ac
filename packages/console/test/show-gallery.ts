/** `npm run gallery`: all components in all states, until Ctrl-C. Start it again after a change. */
import { servedGallery } from './gallery.ts';

const ends: (() => unknown)[] = [];
console.log(`The gallery is at ${await servedGallery({ after: (end) => void ends.push(end) })}`);
process.once('SIGINT', async () => {
  for (const end of ends) await end();
});
