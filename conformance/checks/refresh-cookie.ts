import type { Check } from '../check.ts';
import { refreshCookieOf, type SetCookie } from '../cookies.ts';
import { hold } from '../expectations.ts';
import { tokensOf, type World } from '../world.ts';

/** The cookies of register, log-in and refresh. */
const cookies = async (world: World): Promise<readonly SetCookie[]> =>
  [await world.registered(), await world.loggedIn(), (await world.rotation()).first].map(refreshCookieOf);

/** A check of one attribute in all cookies. */
const attribute = (
  id: string,
  words: string,
  title: string,
  expected: (settings: World['options']['settings']) => string,
  holds: (attributes: SetCookie['attributes'], settings: World['options']['settings']) => boolean,
): Check => ({
  id,
  source: ['Refresh cookie', words],
  title,
  run: async (world) => {
    const { settings } = world.options;
    for (const { attributes, printable } of await cookies(world))
      hold(holds(attributes, settings), expected(settings), printable);
  },
});

export const refreshCookie: readonly Check[] = [
  {
    id: 'cookie-set',
    source: ['Refresh cookie', '| Name | `refresh_token` | |'],
    title: 'register, log-in and refresh set the cookie refresh_token',
    run: async (world) => {
      for (const reply of [await world.registered(), await world.loggedIn(), (await world.rotation()).first])
        tokensOf(reply);
    },
  },
  attribute(
    'cookie-http-only',
    '| HttpOnly | true | |',
    'the cookie is HttpOnly',
    () => 'HttpOnly',
    (attributes) => attributes.has('httponly'),
  ),
  attribute(
    'cookie-path',
    '| Path | `/auth` | `JWT_REFRESH_COOKIE_PATH` |',
    'the cookie has the configured Path',
    ({ cookiePath }) => `Path=${cookiePath}`,
    (attributes, { cookiePath }) => attributes.get('path') === cookiePath,
  ),
  attribute(
    'cookie-same-site',
    '| SameSite | `lax` | `JWT_REFRESH_COOKIE_SAME_SITE` |',
    'the cookie has the configured SameSite',
    ({ cookieSameSite }) => `SameSite=${cookieSameSite}`,
    (attributes, { cookieSameSite }) => attributes.get('samesite')?.toLowerCase() === cookieSameSite,
  ),
  attribute(
    'cookie-secure',
    '| Secure | false (development); has to be true in production | `JWT_REFRESH_COOKIE_SECURE` |',
    'the cookie is Secure if that is configured',
    ({ cookieSecure }) => (cookieSecure ? 'Secure' : 'no Secure (or else --set JWT_REFRESH_COOKIE_SECURE=true)'),
    (attributes, { cookieSecure }) => attributes.has('secure') === cookieSecure,
  ),
  attribute(
    'cookie-max-age',
    '| Max age | 604800000 ms (7 days) | `JWT_REFRESH_COOKIE_MAX_AGE_MS` |',
    'the cookie has the configured Max-Age',
    ({ cookieMaxAge }) => `Max-Age=${cookieMaxAge}`,
    (attributes, { cookieMaxAge }) => attributes.get('max-age') === String(cookieMaxAge),
  ),
  {
    id: 'cookie-cleared',
    source: ['Endpoints', '| GET | `/auth/clear-cookie` | | | clears the cookie `refresh_token` |'],
    title: 'clear-cookie sets the cookie again, expired, with the same Path',
    run: async ({ cleared, options }) => {
      const reply = await cleared();
      hold(reply.status >= 200 && reply.status < 300, 'a status of 2xx', `${reply.status} (${reply.to})`);
      const { value, attributes, printable } = refreshCookieOf(reply);
      const age = attributes.get('max-age');
      const isPast = age === undefined ? Date.parse(attributes.get('expires') ?? '') < Date.now() : Number(age) <= 0;
      hold(
        isPast && attributes.get('path') === options.settings.cookiePath,
        `an expired cookie, Path=${options.settings.cookiePath}`,
        printable,
      );
      hold(!value.startsWith('ey'), 'a value that is no token', 'a token');
    },
  },
];
