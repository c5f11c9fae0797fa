import { EVENT_KINDS } from '../../../src/domain/event.ts';
import { WEBHOOK_TYPES } from '../../../src/domain/webhook.ts';

/** A Markdown list of the types of webhooks, with a line for each subject. */
export const typesList = (): string =>
  Object.entries(Object.groupBy(WEBHOOK_TYPES.keys(), (type) => type.replace(/\..*/, '')))
    .map(([subject, types = []]) => `- ${subject}: ${types.map((type) => `\`${type}\``).join(', ')}\n`)
    .join('');

/** The page `docs/webhooks.md`, with the list of types. */
export const withTypes = (page: string): string => page.replace(/(?:^- \w+: `\w+\..*\n(?: .*\n)*)+/m, typesList);

/** The file `client/src/types.ts`, with the kinds of events. */
export const withKinds = (source: string): string =>
  source.replace(/(export type EventKind =).*?;/s, (_all, begin) => {
    return `${begin}${EVENT_KINDS.map((kind) => `\n  | '${kind}'`).join('')};`;
  });
