/** A full stack throws wherever it is met. What is counted and then sent must not be cut in two by that. */
const { apply } = Reflect;
const nothing = () => {};
/** 32 KiB as arguments: more than the runner takes from a call of the pack to the pipe. */
const ROOM = new Array(4096).fill(0);

/** Throws `RangeError` where the pack has left no room on the stack, before anything has happened. */
export const needStack = () => apply(nothing, undefined, ROOM);
