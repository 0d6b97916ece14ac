export * from './limiter.ts';
export * from './turns.ts';
