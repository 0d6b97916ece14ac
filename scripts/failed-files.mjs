// A reporter of node:test: the test files in which something failed, a line each.
export default async function* failedFiles(events) {
  const told = new Set();
  for await (const { type, data } of events) {
    // A file that dies has no entry of its own; a test of a contract lies in another file than it runs in
    const file = data.entryFile ?? data.file;
    if (type !== 'test:fail' || told.has(file)) continue;
    told.add(file);
    yield `${file}\n`;
  }
}
