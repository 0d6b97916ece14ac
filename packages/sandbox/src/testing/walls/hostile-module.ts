/** A module of the corpus that knows no inner layer: it is run by the interpreter itself, behind the wall alone. */
export interface HostileModule {
  readonly name: string;
  /** A body that has to throw; with `return` it says whether it got what it wanted. */
  readonly body: string;
}

/** What a module does to stay: it has a process of its own, says that it is there, and is killed by the host. */
export type StayingModule = HostileModule;

/** What its modules are made into, for one interpreter. */
export interface Dialect {
  /** Runs every body and reports `[name, escaped, why]` of each. */
  together(modules: readonly HostileModule[]): string;
  /** Runs one body, reports `there` when it has got so far, and goes on for ever. */
  alone(module: StayingModule): string;
}
