import type { Handle } from '@sveltejs/kit/hooks';
import { auth } from '#lib/server/auth.ts';

/** The pages below `(users)` are rendered for users alone. */
export const handle: Handle = async ({ event, resolve }) => {
  if (event.route.id?.startsWith('/(users)/')) {
    const user = await auth.requireUser(event.request);
    // What gets the browser an access token, or the visitor a log-in.
    if (user instanceof Response) return user;
    event.locals.user = user;
  }
  const response = await resolve(event);
  // Pages differ from visitor to visitor, so nothing keeps them.
  response.headers.set('Cache-Control', 'private, no-store');
  return response;
};
