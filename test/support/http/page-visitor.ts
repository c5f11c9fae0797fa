import request, { type Response } from 'supertest';
import { expect } from 'vitest';
import { PAGES, type PageName } from '../../../src/adapters/http/forms/flow.ts';
import { aPerson, type TestService } from './service.ts';
import { type Fields, formsIn, type ShownForm } from './shown-forms.ts';

type Headers = Readonly<Record<string, string>>;

export const ORIGIN = 'https://auth.example.org';
/** The header that a browser sends with a form of one of the service's own pages. */
export const OWN_PAGE_HEADERS = { Origin: ORIGIN };

export const pathOfPage = (page: PageName, to?: string): string =>
  PAGES[page].path + (to === undefined ? '' : `?${new URLSearchParams({ to })}`);

export type Visitor = ReturnType<typeof visitorOf>;

/** The names of the forms in the second view of the log-in page, and the name of the form in the first view. */
const [SECOND_VIEW, FIRST_VIEW] = [['log-in.log-in', 'log-in.code'], 'log-in.account'];

/** A browser without JavaScript. It stores cookies, and follows no redirect by itself. */
export const visitorOf = ({ http }: Pick<TestService, 'http'>, headers: Headers = {}) => {
  const jar = new Map<string, string>();
  const answers: Response[] = [];
  const keep = (response: Response): Response => {
    for (const line of response.get('Set-Cookie') ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/;\s*Max-Age=0\b/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    answers.push(response);
    return response;
  };
  const cookies = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const sending = (request: ReturnType<typeof http.get>, more: Headers) =>
    request
      .redirects(0)
      .ok(() => true)
      .set({
        Accept: 'text/html,*/*;q=0.8',
        'Accept-Language': 'en',
        ...headers,
        ...(jar.size > 0 && { Cookie: cookies() }),
        ...more,
      });
  const open = async (path: string, more: Headers = {}): Promise<Response> => keep(await sending(http.get(path), more));
  const post = async (path: string, fields: Fields | string, more: Headers = OWN_PAGE_HEADERS): Promise<Response> =>
    keep(await sending(http.post(path), more).type('form').send(fields));
  /** The forms with a name in the page that was opened last. */
  const shown = (name: string): ShownForm[] => formsIn(answers.at(-1)?.text ?? '', name);
  /** Opens the redirect target of the last answer. */
  const follow = async (): Promise<Response> => open(answers.at(-1)?.headers.location ?? '');
  /** Fills in a form of the page that was opened last, and sends it. @param at the index among the forms with this name */
  const submit = async (name: string, fields: Fields = {}, at = 0): Promise<Response> => {
    const form = shown(name)[at];
    if (form !== undefined) return post(form.path, { ...form.fields, ...fields });
    if (!SECOND_VIEW.includes(name) || shown(FIRST_VIEW).length === 0) throw new Error(`no form ${name} is shown`);
    await submit(FIRST_VIEW, { account: fields.account || 'nobody' });
    await follow();
    return submit(name, fields);
  };
  return { jar, answers, open, post, shown, submit, follow };
};

/** The redirect target of an answer, without the parameters that tell the next page about a log-in, a proof or a failed form. */
export const locationIn = ({ headers }: Response): string =>
  `${headers.location}`.replace(/[?&]tandem=(?:logged-in|failed)$/, '').replace(/[?&]next=password$/, '');

/**
 * Sends each registration form to both URLs at the same time, on separate connections.
 * @returns the pairs of answers that differ or do not lead to the account page
 */
export const answersThatDiffer = async (urls: readonly [string, string], pairs: number) => {
  const different: unknown[] = [];
  const browsers = () => urls.map((url) => visitorOf({ http: request(url) }, { Connection: 'close' }));
  for (let pair = 0; pair < pairs; pair += 1) {
    const [visitor = expect.unreachable()] = browsers();
    await visitor.open('/auth/register');
    const fields = { ...visitor.shown('register.register')[0]?.fields, ...aPerson() };
    const answers = await Promise.all(browsers().map(({ post }) => post('/auth/register', fields)));
    const [first, second] = answers.map((each) => JSON.stringify([each.headers.location, each.get('Set-Cookie')]));
    if (first !== second || !first?.startsWith('["/auth/account')) different.push([first, second]);
  }
  return different;
};

/** Registers a visitor at the page. */
export const registeredVisitor = async (service: TestService, headers: Headers = {}) => {
  const [visitor, person] = [visitorOf(service, headers), aPerson()];
  await visitor.open('/auth/register');
  const response = await visitor.submit('register.register', person);
  expect([response.status, response.headers.location]).toEqual([303, '/auth/account?tandem=logged-in']);
  const user = (await service.ports.users.findByUsername(person.username)) ?? expect.unreachable();
  return { ...visitor, person, user };
};
