import { surfaceCrashContract } from '../ports/surface-crash-contract.ts';
import { WORKS, type WorkName } from '../testing/crash-works.ts';

surfaceCrashContract('the data folder', 'no server', {
  works: Object.keys(WORKS) as WorkName[],
  settingsOf: () => ({}),
});
