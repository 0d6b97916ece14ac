/** Tenant of the operator's definitions and packs, which every tenant sees. */
export const SHARED = '*';
