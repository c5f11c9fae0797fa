import { auth } from '#lib/server/auth.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = ({ locals: { user }, request }) => ({
  username: user.username,
  email: user.email,
  // Pages of the service.
  settings: auth.linkTo('account', request),
  logOut: auth.linkTo('log-out', request, { to: '/' }),
});
