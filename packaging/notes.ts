/** An entry that asks for something: what it breaks, refuses or renames, in its first words. */
const ASKS = /^- \*\*(?:Breaks|Refused|Verifiers|Operators)/;

/** The entries of a section: each begins with `- ` at the left edge. */
const entriesOf = (section: string): readonly string[] => section.split(/\n(?=- |### )/).map((entry) => entry.trim());

/**
 * The notes of a release, and what its upgrade asks for, out of the changelog.
 * @param version has a section of its own; without one, `Unreleased` is what comes next
 * @throws Error when there is neither
 */
export const notesOf = (changelog: string, version: string): { readonly release: string; readonly upgrade: string } => {
  const sections = changelog.split(/\n(?=## )/).slice(1);
  const [newest = ''] = sections;
  const [head = '', ...lines] = newest.split('\n');
  if (!head.startsWith('## Unreleased') && !head.startsWith(`## ${version} `))
    throw new Error(`CHANGELOG.md begins neither with "Unreleased" nor with "${version}".`);
  const body = lines.join('\n').trim();
  const asking = entriesOf(body).filter((entry) => ASKS.test(entry));
  const title = head.replace('## ', '');
  return {
    release: `# Tandem ${title}\n\n${body}\n`,
    upgrade: `# Upgrade to ${title}\n\n${asking.length === 0 ? 'Nothing to do.' : asking.join('\n')}\n`,
  };
};
