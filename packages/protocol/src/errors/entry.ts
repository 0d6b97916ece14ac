export interface ErrorEntry {
  /** HTTP status; 0 for codes that only a run carries. */
  readonly status: number;
  /** Whether sending the same request again can succeed. */
  readonly retriable: boolean;
  /** What happened, in one sentence that can stand in a response. */
  readonly message: string;
  /** What the reader should do next. */
  readonly next: string;
}
