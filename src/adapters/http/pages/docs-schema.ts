import { type Html, html } from '../../../application/html.ts';
import type { Json } from '../openapi/components.ts';
import { prose } from './prose.ts';

/** What a JSON Schema of one field permits, in words. */
export const rulesOf = (schema: Json): Html => {
  const rules = [
    typeOf(schema),
    ...lengthOf(schema),
    ...(typeof schema.pattern === 'string' ? [html`matches <code class="anywhere">${schema.pattern}</code>`] : []),
  ];
  const { description } = schema;
  return html`${rules.map((rule, at) => html`${at === 0 ? '' : ', '}${rule}`)}${
    typeof description === 'string' ? html`. ${prose(description)}` : ''
  }`;
};

const typeOf = ({ enum: values, type }: Json): Html =>
  Array.isArray(values)
    ? html`one of ${values.map((value, at) => html`${at === 0 ? '' : ', '}<code>${String(value)}</code>`)}`
    : html`${String(type ?? 'any')}`;

const lengthOf = ({ minLength, maxLength }: Json): Html[] => {
  if (minLength !== undefined && maxLength !== undefined)
    return [html`${String(minLength)} to ${String(maxLength)} characters`];
  if (minLength !== undefined) return [html`at least ${String(minLength)} characters`];
  return maxLength === undefined ? [] : [html`at most ${String(maxLength)} characters`];
};
