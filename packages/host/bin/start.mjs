import { startServer } from '@gantry/http/start-server';

await startServer(() => import('../src/main.ts'));
