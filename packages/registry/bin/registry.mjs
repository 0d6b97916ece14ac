import { startServer } from '@gantry/http/start-server';

await startServer(new URL('../src/main.ts', import.meta.url).href);
