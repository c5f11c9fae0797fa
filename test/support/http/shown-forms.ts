export type Fields = Readonly<Record<string, string>>;

/** The path of a form, the fields that the page has filled in, and the passkey options of a form for a passkey. */
export type ShownForm = {
  readonly path: string;
  readonly fields: Fields;
  readonly options: { readonly challenge: string };
};

/** Decodes the numeric character references in a text of HTML. */
export const unescaped = (html: string): string =>
  html.replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)));

const attribute = (tag: string, name: string): string | undefined => {
  const [, value] = new RegExp(`\\s${name}="([^"]*)"`).exec(tag) ?? [];
  return value === undefined ? undefined : unescaped(value);
};

/** The forms of a page that have the name, such as `log-in.passkey`, or that contain a button with the name. */
export const formsIn = (html: string, name: string): ShownForm[] => {
  const forms = [...html.matchAll(/(<form\b[^>]*>)(.*?)<\/form>/gs)];
  const named = forms.filter(([, tag = '']) => attribute(tag, 'data-form') === name);
  const button =
    [...html.matchAll(/<button\b[^>]*>/g)].find(([tag]) => attribute(tag, 'data-form') === name)?.[0] ?? '';
  const owner = forms.filter(([, , content = '']) => button !== '' && content.includes(button));
  return [...named, ...owner].map(([, tag = '', content = '']) => {
    const inputs = [...content.matchAll(/<(?:input|select)\b[^>]*>/g)].map(([input]) => input);
    const filled = inputs.flatMap((input) => {
      const [field, value] = [attribute(input, 'name'), attribute(input, 'value')];
      return field === undefined || attribute(input, 'type') === 'checkbox' ? [] : [[field, value ?? '']];
    });
    const options = attribute(tag, 'data-creates') ?? attribute(tag, 'data-options') ?? '{}';
    const path = attribute(button, 'formaction') ?? attribute(tag, 'action') ?? '';
    return { path, fields: Object.fromEntries(filled), options: JSON.parse(options) };
  });
};

/** All forms of a page, by their names. */
export const allFormsIn = (html: string): ReadonlyMap<string, ShownForm[]> =>
  new Map([...html.matchAll(/ data-form="([^"]*)"/g)].map(([, name = '']) => [name, formsIn(html, name)]));
