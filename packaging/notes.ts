/** An entry that asks for something: what it breaks, refuses or renames, in its first words. */
const ASKS = /^- \*\*(?:Breaks|Refused|Verifiers|Operators)/;

/** The entries of a section: each begins with `- ` at the left edge. */
const entriesOf = (section: string): readonly string[] => section.split(/\n(?=- |### )/).map((entry) => entry.trim());

/**
 * The notes of a release, and what its upgrade asks for, out of the changelog: what is unreleased, or, when that is nothing, the section of
 * the version.
 * @throws Error when there is neither
 */
export const notesOf = (changelog: string, version: string): { readonly release: string; readonly upgrade: string } => {
  const sections = changelog
    .split(/\n## /)
    .slice(1)
    .map((section) => section.split(/\n(.*)/s))
    .map(([title = '', body = '']) => ({ title, body: body.trim() }));
  const section = sections.find(({ title, body }) =>
    title === 'Unreleased' ? body !== '' : title.startsWith(`${version} `),
  );
  if (section === undefined) throw new Error(`CHANGELOG.md has nothing unreleased, and nothing about ${version}.`);
  const { title, body } = section;
  const asking = entriesOf(body).filter((entry) => ASKS.test(entry));
  return {
    release: `# Tandem ${title}\n\n${body}\n`,
    upgrade: `# Upgrade to ${title}\n\n${asking.length === 0 ? 'Nothing to do.' : asking.join('\n')}\n`,
  };
};
