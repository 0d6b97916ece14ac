/**
 * Members of ctx that the host does not offer. They are absent, since packs test for them; a call of one is told as
 * what it is: reaching for a capability that was not granted.
 */
const Watched = Proxy;
const afterThisTurn = setImmediate;
const NAMES_MAX = 100;

const NOT_A_FUNCTION = /(?:^|[.\s])([\w$]+) is not a function$/;
const OF_UNDEFINED = /^Cannot read properties of undefined \(reading '([\w$]+)'\)$/;

/** `last` was read in this turn of the loop, and no other member since: what fails now fails because of it. */
export const newAbsences = () => ({ paths: new Map(), last: undefined, isForgetting: false });

function note(absences, path, name) {
  if (absences.paths.size < NAMES_MAX) absences.paths.set(name, `${path}${name}`);
  absences.last = `${path}${name}`;
  if (absences.isForgetting) return;
  absences.isForgetting = true;
  afterThisTurn(() => {
    absences.last = undefined;
    absences.isForgetting = false;
  });
}

/** The same object; what is read from it and is not there is remembered. */
export const watched = (object, path, absences) =>
  new Watched(object, {
    get(target, name) {
      absences.last = undefined;
      if (typeof name === 'string' && !(name in target)) note(absences, path, name);
      return target[name];
    },
  });

function calledPath({ paths, last }, message) {
  const called = NOT_A_FUNCTION.exec(message)?.[1];
  if (called !== undefined) return paths.get(called);
  const read = OF_UNDEFINED.exec(message)?.[1];
  return read !== undefined && last !== undefined ? `${last}.${read}` : undefined;
}

/** An error without a code of its own that came from calling what is absent. */
export function withAbsence(absences, error) {
  if (error.code !== undefined) return error;
  const path = calledPath(absences, error.message);
  if (path === undefined) return error;
  const message = `${error.message}: this node is not offered ctx.${path}. Test for it before it is called.`;
  const details = { ...error.details, requestedCapability: path };
  return { ...error, message, code: 'sandbox_capability_denied', details };
}
