export * from './command.ts';
export * from './plan.ts';
export * from './run.ts';
