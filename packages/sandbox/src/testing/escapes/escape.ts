/**
 * A hostile module and what it gets. `code`: the node fails with it. `contained`: the node runs to its end and
 * says in `outputs.escaped` that it got nothing; it would say so if it had.
 */
export interface Escape {
  readonly name: string;
  /** The body of `async (ctx) => { ... }`. */
  readonly body: string;
  /** What stands before the node: it runs when the module loads. */
  readonly before?: string;
  readonly grants?: readonly string[];
  readonly expected: { readonly code: string; readonly escapeKind?: string } | 'contained';
}

export const stopped = (escapeKind: string): Escape['expected'] => ({
  code: 'sandbox_escape_attempt',
  escapeKind,
});
export const refused: Escape['expected'] = { code: 'sandbox_capability_denied' };
export const memory: Escape['expected'] = { code: 'sandbox_memory_exceeded' };
export const timeout: Escape['expected'] = { code: 'sandbox_timeout' };
export const failed: Escape['expected'] = { code: 'sandbox_invocation_error' };

/** Statements that must throw; when they do not, the module has escaped. */
export const attempt = (statements: string): string =>
  `try { ${statements}; return { escaped: true }; } catch (error) { return { escaped: false, why: error.message }; }`;
