import type { getCurrentUser } from '../../../application/use-cases/get-current-user.ts';
import { PublicUserJson } from '../../json/public-user.ts';
import { type Route, route } from '../define-route.ts';

/** Routes of the logged-in user. */
export const userRoutes = (useCases: { readonly getCurrentUser: ReturnType<typeof getCurrentUser> }): Route[] => [
  route(
    {
      name: 'current-user',
      method: 'GET',
      path: '/users/me',
      response: { data: PublicUserJson },
      errors: ['DB_RECORD_NOT_FOUND', 'DB_QUERY_FAILED'],
    },
    ({ claims }) => useCases.getCurrentUser(claims.sub),
  ),
];
