import { canStart } from '@gantry/http/start-server';

if (canStart()) await import('../src/main.ts');
