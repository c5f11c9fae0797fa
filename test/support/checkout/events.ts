import { EVENT_KINDS } from '../../../src/domain/event.ts';
import { WEBHOOK_TYPES } from '../../../src/domain/webhook.ts';

const typesTable = (): string =>
  [...WEBHOOK_TYPES]
    .map(([type, kinds]) => `| \`${type}\` | ${kinds.map((kind) => `\`${kind}\``).join(', ')} |\n`)
    .join('');

/** The page `docs/webhooks.md`, with the table of types. */
export const withTypes = (page: string): string =>
  page.replace(/(\| Type \|.*\n\|---.*\n)(?:\|.*\n)+/, (_all, head) => `${head}${typesTable()}`);

/** The file `client/src/types.ts`, with the kinds of events. */
export const withKinds = (source: string): string =>
  source.replace(/(export type EventKind =).*?;/s, (_all, begin) => {
    return `${begin}${EVENT_KINDS.map((kind) => `\n  | '${kind}'`).join('')};`;
  });
