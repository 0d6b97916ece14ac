/** What writers are asked beside the writes of areas. Loads nothing: threads start fast. */

/** The log goes into the database, and the space that it took is free. Readers must have ended to let it. */
export const CHECKPOINT = { area: 'log', name: 'checkpoint' } as const;

/** Journals of all tenants. */
export const FORGET = { area: 'invocations', name: 'forget' } as const;

interface Named {
  readonly area: string;
  readonly name: string;
}

export const isAsked = (request: Named, { area, name }: Named): boolean =>
  request.area === area && request.name === name;
