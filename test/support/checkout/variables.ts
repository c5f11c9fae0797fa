import { defaultText, VARIABLES } from '../../../src/infrastructure/config/variables.ts';
import { CONFIG_VARIABLES } from '../../../src/infrastructure/config.ts';

const HEAD = `# Copy this file to .env and uncomment what you want to change. Each line shows the default in development.
# Never commit a .env file: keys and URLs contain secrets.
`;

/** The file `.env.example`. */
export const envExample = (): string =>
  HEAD +
  CONFIG_VARIABLES.map(
    ({ name, meaning, default: shown }) =>
      `\n# ${meaning}\n# Default: ${shown}\n#${name}=${defaultText(VARIABLES[name], 'development') ?? ''}\n`,
  ).join('');

const TABLE = /(## All variables\n\n\|.*\|\n\|.*\|\n)(?:\|.*\|\n)+/;

/** The page `docs/configuration.md`, with the table of all variables. */
export const withVariables = (page: string): string =>
  page.replace(TABLE, (_table, head: string) => {
    const rows = CONFIG_VARIABLES.map(
      ({ name, default: shown, meaning }) => `| \`${name}\` | ${shown} | ${meaning} |\n`,
    );
    return head + rows.join('');
  });
