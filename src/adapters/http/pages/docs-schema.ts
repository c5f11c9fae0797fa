import { type Html, html } from '../../../application/html.ts';
import type { Json } from '../openapi/components.ts';
import { prose } from './prose.ts';

/** What a JSON Schema of one field permits, in words. */
export const rulesOf = (schema: Json): Html => {
  const rules = [
    typeOf(schema),
    ...boundsOf(schema),
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

/** Of a number, or of the length of a text. */
const boundsOf = ({ type, minimum, maximum, minLength, maxLength }: Json): Html[] => {
  const [least, most] = type === 'integer' ? [minimum, maximum] : [minLength, maxLength];
  const unit = (bound: unknown) => (type === 'integer' ? '' : ` character${bound === 1 ? '' : 's'}`);
  if (least !== undefined && most !== undefined) return [html`${String(least)} to ${String(most)}${unit(most)}`];
  if (least !== undefined) return [html`at least ${String(least)}${unit(least)}`];
  return most === undefined ? [] : [html`at most ${String(most)}${unit(most)}`];
};
