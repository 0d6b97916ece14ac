/** A decimal without places as servers write it: a number where a number holds it, else text. */
export const wholeNumber = (text: string): number | string =>
  /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text;
