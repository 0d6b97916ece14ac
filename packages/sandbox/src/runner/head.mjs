/**
 * How much work the JSON of a frame makes, told from its bytes before it is read: JSON of 16 MiB may be one text, or
 * five million lists that hold up the loop for seconds. Both sides use this file, so that they agree.
 */

/**
 * Each element counts once, each member of an object as often as its name takes longer to read and to compare.
 * [m] 0.4 microseconds for an element, 4 for a member; vectors are many elements.
 */
export const VALUES_MAX = 1_000_000;
const MEMBER_VALUES = 10;
/** Of the objects and lists in each other. */
export const DEPTH_MAX = 200;
/** The list around every head, and the value in it. */
const DEPTH_AROUND = 2;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const LIST_OPENS = 91;
const LIST_CLOSES = 93;
const OBJECT_OPENS = 123;
const OBJECT_CLOSES = 125;

/** The place of the quote that ends a text, or of the end. */
function endOfText(json, start) {
  let at = start;
  for (; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++;
  return at;
}

/**
 * How many values there are and how deep they lie; goes on no further than one of them allows. What is no JSON has
 * some number too.
 */
export function measure(json) {
  let values = 0;
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfText(json, at + 1);
    else if (byte === COMMA) values++;
    else if (byte === COLON) values += MEMBER_VALUES - 1;
    else if (byte === LIST_OPENS || byte === OBJECT_OPENS) {
      values++;
      depth++;
      if (depth > deepest) deepest = depth;
    } else if (byte === LIST_CLOSES || byte === OBJECT_CLOSES) depth--;
    if (values > VALUES_MAX || deepest > DEPTH_MAX + DEPTH_AROUND) break;
  }
  return { values, isTooDeep: deepest > DEPTH_MAX + DEPTH_AROUND };
}
