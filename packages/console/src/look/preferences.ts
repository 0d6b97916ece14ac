/** How this person wants the console to look. Kept in this browser: it is about the screen, not about the work. */

export const THEMES = ['system', 'light', 'dark'] as const;
export const DENSITIES = ['compact', 'relaxed'] as const;
export const ZONES = ['local', 'utc'] as const;
export const KEYS = ['on', 'off'] as const;

export interface Look {
  readonly theme: (typeof THEMES)[number];
  readonly density: (typeof DENSITIES)[number];
  readonly zone: (typeof ZONES)[number];
  /** Whether single keys are commands. */
  readonly keys: (typeof KEYS)[number];
}

const NAME = 'gantry-look';
const USUAL: Look = { theme: 'system', density: 'compact', zone: 'local', keys: 'on' };

const oneOf = <T extends string>(values: readonly T[], value: unknown, usual: T): T =>
  values.find((each) => each === value) ?? usual;

let current = read();
const watchers = new Set<() => void>();

/** Storage may be forbidden, or hold what an older version wrote. */
function read(): Look {
  try {
    const kept: Partial<Look> = JSON.parse(localStorage.getItem(NAME) ?? '{}');
    return {
      theme: oneOf(THEMES, kept.theme, USUAL.theme),
      density: oneOf(DENSITIES, kept.density, USUAL.density),
      zone: oneOf(ZONES, kept.zone, USUAL.zone),
      keys: oneOf(KEYS, kept.keys, USUAL.keys),
    };
  } catch {
    return USUAL;
  }
}

export const look = (): Look => current;

export function watchLook(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export function changeLook(change: Partial<Look>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(NAME, JSON.stringify(current));
  } catch {
    // It then lasts as long as the page
  }
  applyLook();
  for (const watcher of watchers) watcher();
}

export function applyLook(): void {
  const { dataset } = document.documentElement;
  if (current.theme === 'system') delete dataset.theme;
  else dataset.theme = current.theme;
  dataset.density = current.density;
}
