/** Text without control characters, which mean something in headers and double in length in tokens. Threads load it. */
const CONTROL = /\p{Cc}/u;

export const isPlainText = (text: string): boolean => text.isWellFormed() && !CONTROL.test(text);
