/** The result of one check of `gantry doctor`. */
export interface Finding {
  readonly name: string;
  readonly level: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** How to fix it. */
  readonly next?: string;
}

const found =
  (level: Finding['level']) =>
  (name: string, detail: string, next?: string): Finding => ({
    name,
    level,
    detail,
    ...(next !== undefined && { next }),
  });

export const ok = found('ok');
export const warn = found('warn');
export const fail = found('fail');
