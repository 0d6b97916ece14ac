/** Tenant of what every tenant sees: definitions and packs that the operator brings. */
export const SHARED = '*';
