/**
 * Every word of the console, by where it is seen. What runs say about themselves comes from the host.
 * Plural forms are functions; sentences are whole, since other languages order them differently.
 */
export const words = {
  product: 'Gantry',
  skip: 'Skip to the content',
  copy: 'Copy',
  copied: 'Copied',
  copyId: (id: string) => `Copy ${id}`,
  close: 'Close',
  cancel: 'Cancel',
  retry: 'Try again',
  nothingFound: 'Nothing found',
  title: (...parts: string[]) => [...parts, 'Gantry'].join(' · '),

  keys: { escape: 'Esc', search: 'Ctrl K' },

  status: {
    pending: 'Queued',
    running: 'Running',
    paused: 'Paused',
    'waiting-approval': 'Waiting for approval',
    'waiting-input': 'Waiting for input',
    'waiting-external': 'Waiting for an event',
    completed: 'Completed',
    failed: 'Failed',
    cancelling: 'Cancelling',
    cancelled: 'Cancelled',
  },

  nav: {
    label: 'Places',
    inbox: 'Inbox',
    runs: 'Runs',
    workflows: 'Workflows',
    packs: 'Packs',
    host: 'Host',
    home: 'Gantry, start page',
    open: (count: number) => `${count} open`,
  },

  search: { open: 'Search', place: 'Search or type a command' },

  look: {
    menu: 'Settings of this browser',
    theme: 'Theme',
    system: 'As the system',
    light: 'Light',
    dark: 'Dark',
    density: 'Rows',
    compact: 'Compact',
    relaxed: 'Relaxed',
    zone: 'Times',
    local: 'Local time',
    utc: 'UTC',
    keys: 'Single-key commands',
    on: 'On',
    off: 'Off',
  },

  filter: {
    label: 'Filters',
    add: 'Filter',
    is: 'is',
    not: 'is not',
    invert: (not: boolean) => (not ? 'Include instead' : 'Exclude instead'),
    remove: (name: string) => `Remove the filter ${name}`,
    change: (name: string, values: string) => `${name}: ${values}. Change`,
    clear: 'Clear all',
    any: (values: readonly string[]) => values.join(' or '),
  },

  table: {
    pick: (name: string) => `Select ${name}`,
    pickAll: 'Select all shown',
    picked: (count: string, of: string) => `${count} selected of ${of} that match`,
    pickMatching: (count: string) => `Select all ${count}`,
    clear: 'Clear selection',
    fresh: (count: string) => `${count} new`,
  },

  json: {
    label: 'Value',
    items: (count: number) => (count === 1 ? '1 item' : `${count} items`),
    members: (count: number) => (count === 1 ? '1 member' : `${count} members`),
    more: (count: number) => `${count} more`,
    masked: 'Hidden',
  },

  lanes: {
    label: 'Timeline',
    times: (count: number) => `×${count}`,
    folded: (took: string) => `${took} without work, folded`,
  },

  votes: {
    label: 'Approvals',
    granted: (count: number, of: number) => `${count} of ${of} approvals`,
    approved: (voter: string) => `${voter} approved`,
    rejected: (voter: string) => `${voter} rejected`,
    none: 'Nobody has answered yet.',
  },

  countdown: { left: (time: string) => `${time} left`, over: 'Time is up' },

  chart: {
    table: 'As a table',
    time: 'Time',
    value: 'Value',
    now: 'now',
    most: (value: string) => `most ${value}`,
  },

  person: { menu: 'You and this browser', signOut: 'Sign out' },

  signIn: {
    title: 'Sign in to Gantry',
    key: 'API key',
    action: 'Sign in',
    other: 'Or let the command line open a page that is signed in:',
    command: 'npx gantry open',
    again: 'Sign in again',
    kept: 'Your session has ended. What you typed is still there.',
  },

  start: {
    title: 'Start',
    lead: 'This host is running',
    version: 'Version',
    address: 'Address',
    key: 'Your key',
    tenant: 'Tenant',
    scopes: 'May',
    cli: 'Start a run, and watch it:',
    command: 'npx gantry run hello --input name=Ada --watch',
    unreachable:
      'The host does not answer. What you see may be old; it is renewed as soon as the host is back.',
    away: 'The host does not answer.',
    missing: 'There is no page at this address.',
    back: 'Go to the start page',
  },
} as const;
