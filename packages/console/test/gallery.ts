/** The gallery, built and served by a real host: the policy and the files are those of the console. */
import path from 'node:path';
import { temporaryFolder } from '../../host/src/testing/host-process.ts';
import type { Lifetime } from '../../host/src/testing/one-per-file.ts';
import { testHost } from '../../host/src/testing/test-host.ts';

const SOURCE = path.join(import.meta.dirname, '../src/testing/gallery');

export async function servedGallery(t: Lifetime): Promise<string> {
  const { buildConsole } = await import('../../../scripts/build-console.mjs');
  const folder = await temporaryFolder();
  await buildConsole({
    folder: folder.path,
    entries: { app: path.join(SOURCE, 'main.tsx'), style: path.join(SOURCE, 'gallery.css') },
  });
  const { host } = await testHost(t, { consoleFolder: folder.path });
  t.after(folder.remove);
  return host.app.listen({ host: '127.0.0.1', port: 0 });
}
