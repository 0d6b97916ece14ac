/** A full stack throws wherever it is met. What is counted and then sent must not be cut in two by that. */

/** Steps of 200 bytes or so; a microsecond in all, where one large step takes ten. */
const take = (steps, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o) =>
  steps === 0 ? 0 : take(steps - 1, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o) + 1;

/** Throws `RangeError` where the pack has left less than the runner takes to the pipe, before anything has happened. */
export const needStack = () => take(160, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
