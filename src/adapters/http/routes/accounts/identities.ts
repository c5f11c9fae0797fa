import * as v from 'valibot';
import { listIdentities, unlinkIdentity } from '../../../../application/identities/manage-identities.ts';
import type { Service } from '../../../../application/service.ts';
import { FACTOR_CHANGE } from '../../../../domain/assurance.ts';
import { IdentityJson } from '../../../json/account.ts';
import { IdParams } from '../../../json/fields.ts';
import { originOf } from '../../request/client.ts';
import { type Route, route } from '../../routing/define-route.ts';

/** The identities of a user at OpenID providers, also those of providers that are not configured any more. ADR 0026. */
export const identityRoutes = (deps: Service): Route[] => {
  const useCases = { listIdentities: listIdentities(deps), unlinkIdentity: unlinkIdentity(deps) };
  return [
    route(
      {
        name: 'identities',
        tag: 'factors',
        summary: 'List the identities at providers that the user can log in with, the oldest first',
        method: 'GET',
        path: '/users/me/identities',
        response: { data: v.array(IdentityJson) },
      },
      ({ caller }) => useCases.listIdentities(caller),
    ),
    route(
      {
        name: 'unlink-identity',
        tag: 'factors',
        summary: 'Remove an identity at a provider, unless it is the only way into the account',
        method: 'DELETE',
        path: '/users/me/identities/:id',
        stepUp: FACTOR_CHANGE,
        request: { params: IdParams },
        response: { data: v.null() },
        errors: ['AUTH_IDENTITY_CONFLICT'],
      },
      async ({ caller, params }, ctx) => {
        await useCases.unlinkIdentity(caller, params.id, originOf(ctx));
        return null;
      },
    ),
  ];
};
