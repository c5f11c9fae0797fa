/** A number, or a dash for one that is not there. */
export const figure = (value: number, digits: number): string => (Number.isNaN(value) ? '–' : value.toFixed(digits));

/** A table in Markdown. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** A part of the report. */
export type Section = { readonly title: string; readonly text: string };

export const markdown = ({ title, text }: Section): string => `## ${title}\n\n${text}`;
