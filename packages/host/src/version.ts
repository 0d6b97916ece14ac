import manifest from '../package.json' with { type: 'json' };

export const HOST_NAME = 'gantry';
export const HOST_VERSION = manifest.version;
