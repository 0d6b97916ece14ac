export * from './error.ts';
export * from './event.ts';
export * from './json.ts';
export * from './run.ts';
export * from './workflow.ts';
