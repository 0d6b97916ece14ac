import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Repository-relative path, with `/`, to text. */
export type Files = ReadonlyMap<string, string>;

export const root = path.resolve(import.meta.dirname, '../..');

const NOT_OURS = new Set(['node_modules', '.git', '.gantry', 'dist']);
const TEXT = /(\.(ts|tsx|mjs|js|json|md|sql|ya?ml|html|css|sh|txt)|\/run|^\.npmrc|^\.gitignore)$/;

/** Every text file of the project, as it lies on disk: what is not committed yet counts too. */
export function readProject(): Files {
  const files = new Map<string, string>();
  const walk = (folder: string): void => {
    for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
      if (NOT_OURS.has(entry.name)) continue;
      const file = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) walk(file);
      else if (entry.isFile() && TEXT.test(file))
        files.set(file, readFileSync(path.join(root, file), 'utf8'));
    }
  };
  walk('');
  return files;
}

export const isCode = (file: string): boolean => /\.(ts|tsx|mjs|js)$/.test(file);

/** Tests, their helpers (`testing/`, `test-*.ts`, `packages/NAME/test/`), and the contract suites of backends. */
export const isTestCode = (file: string): boolean =>
  /(\.test\.tsx?|^packages\/[^/]+\/test\/.+|\/(testing|contract)\/.+|\/test-[^/]+\.ts|[/-]contract\.ts)$/.test(
    file,
  );

export function select(files: Files, keep: (file: string) => boolean): Files {
  return new Map([...files].filter(([file]) => keep(file)));
}
