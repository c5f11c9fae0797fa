/** @throws Error when the page has no element with that id. */
export const byId = <Kind extends HTMLElement = HTMLElement>(id: string): Kind => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no #${id}.`);
  // The caller knows the page.
  return found as Kind;
};

/** A new element. Strings become text, never markup. */
export const make = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]>,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

/** Shows the result of an action in the live region. A new element is announced even if its text is the same. */
export const say = (text: string, className = ''): void =>
  byId('status').replaceChildren(make('span', { className }, text));

/** Says whether it worked: browsers offer the clipboard to https and localhost only. */
export const copy = async (text: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text);
    say('Copied.');
  } catch {
    say('The browser does not allow to copy.', 'bad');
  }
};
