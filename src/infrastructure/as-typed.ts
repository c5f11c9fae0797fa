/** Whether this is the installed package: a checkout is not below `node_modules`. */
const IS_INSTALLED = import.meta.url.includes('/node_modules/');

/**
 * A text with commands as people type them where this runs: `npm run users -- find` in a checkout, `npx tandem users find` where the
 * package is installed. Not for texts with values of others.
 */
export const asTyped = (text: string, isInstalled = IS_INSTALLED): string =>
  isInstalled
    ? text
        .replaceAll('npm start', 'npx tandem')
        .replaceAll('; with npm run -s', '')
        // Help stays in columns: both beginnings of a line have the same length.
        .replaceAll(/npm run (?:-s )?(\w+)(?: --| {3})?/g, 'npx tandem $1')
    : text;
