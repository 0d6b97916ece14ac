/** Words with which Node loads a script of a test as fast as the tests themselves: TypeBox from the bundle. */
export const LOADERS: readonly string[] = process.execArgv.filter(
  (word) => word.startsWith('--import=') && word.endsWith('/bundle/use.mjs'),
);
