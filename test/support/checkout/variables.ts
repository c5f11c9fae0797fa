import type { Variable } from '../../../src/infrastructure/config/formats.ts';
import { defaultText, VARIABLE_NAMES, VARIABLES } from '../../../src/infrastructure/config/variables.ts';

const shownDefault = ({ default: text, unset }: Variable): string => {
  if (unset !== undefined) return unset;
  if (typeof text !== 'object') return text || 'none';
  const others = (['production', 'test'] as const).filter((environment) => text[environment] !== text.development);
  return `${text.development} (${others.map((environment) => `${environment}: ${text[environment]}`).join(', ')})`;
};

/** Every variable, with the default that the documentation shows. */
export const CONFIG_VARIABLES = VARIABLE_NAMES.map((name) => ({
  name,
  default: shownDefault(VARIABLES[name]),
  meaning: VARIABLES[name].meaning,
}));

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
