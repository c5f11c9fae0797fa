import { auth } from '#lib/server/auth.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async ({ request }) => {
  // This page needs no user: it is shown without one while Tandem does not answer.
  const user = await auth.getUser(request).catch(() => null);
  return { username: user?.username };
};
