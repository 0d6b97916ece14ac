export interface ErrorEntry {
  /** HTTP status; 0 for codes that only occur in runs. */
  readonly status: number;
  /** Whether sending the same request again can succeed. */
  readonly retriable: boolean;
  /** One sentence that can be sent in a response. */
  readonly message: string;
  /** What the reader should do. */
  readonly next: string;
}

type Texts = readonly [message: string, next: string];

const entries = <Code extends string>(status: number, retriable: boolean, codes: Record<Code, Texts>) =>
  Object.fromEntries(
    Object.entries<Texts>(codes).map(([code, [message, next]]) => [
      code,
      { status, retriable, message, next },
    ]),
  ) as Readonly<Record<Code, ErrorEntry>>;

/** Codes with one status. The same request fails again. */
export const refused = <Code extends string>(status: number, codes: Record<Code, Texts>) =>
  entries(status, false, codes);

/** Codes with one status. The same request may succeed later. */
export const retriable = <Code extends string>(status: number, codes: Record<Code, Texts>) =>
  entries(status, true, codes);
