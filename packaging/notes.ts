/** An entry that asks for something says so in bold. */
const ASKS = /\*\*(?:Breaks|Refused|Verifiers|Operators)/;

/**
 * The notes of a release, and what its upgrade asks for, out of the changelog: what is unreleased, or, when that is nothing, the section of
 * the version.
 * @throws Error when there is neither
 */
export const notesOf = (changelog: string, version: string): { readonly release: string; readonly upgrade: string } => {
  const sections = changelog.split(/\n## /).slice(1);
  const section = sections.find((each) => /^Unreleased\s+\S/.test(each) || each.startsWith(`${version} `));
  const [title = '', body = ''] = section?.split(/\n(.*)/s) ?? [];
  if (title === '') throw new Error(`CHANGELOG.md has nothing unreleased, and nothing about ${version}.`);
  const entries = body.split(/\n(?=- |### )/).map((entry) => entry.trim());
  const asking = entries.filter((entry) => ASKS.test(entry)).join('\n');
  return {
    release: `# Tandem ${title}\n\n${body.trim()}\n`,
    upgrade: `# Upgrade to ${title}\n\n${asking || 'Nothing to do.'}\n`,
  };
};
