// Proves ASVS 3.2.2
import { describe, expect, it } from 'vitest';
import { html } from '../../src/application/templates.ts';

const HOSTILE = `<script>alert(1)</script>&amp;"'\``;
const ESCAPED = '&#60;script&#62;alert(1)&#60;/script&#62;&#38;amp;&#34;&#39;&#96;';

describe('the HTML template', () => {
  it('escapes text', () => {
    expect(html`<p>${HOSTILE}</p>`.text).toBe(`<p>${ESCAPED}</p>`);
  });

  it('escapes values of attributes, in quotes of either kind', () => {
    expect(html`<a title="${HOSTILE}">`.text).toBe(`<a title="${ESCAPED}">`);
    expect(html`<a title='${HOSTILE}'>`.text).toBe(`<a title='${ESCAPED}'>`);
  });

  it('keeps HTML, also in lists of lists, and escapes the text between', () => {
    const item = html`<li>${'<'}</li>`;
    expect(html`<ul>${[item, [item, '>']]}</ul>`.text).toBe('<ul><li>&#60;</li><li>&#60;</li>&#62;</ul>');
  });

  it('refuses what only looks like HTML to it', () => {
    const text: unknown = { text: '<b>' };
    expect(() => html`${text as string}`.text).toThrow();
  });

  it('escapes each text once', () => {
    expect(html`${html`${'&'}`}`.text).toBe('&#38;');
  });
});
