/** Each element of a list counts once, each member of an object ten times. */
export const VALUES_MAX: number;
export const DEPTH_MAX: number;
export function measure(json: Uint8Array): { readonly values: number; readonly isTooDeep: boolean };
