import { createServerAuth } from 'tandem-client/server';
import { JWT_AUDIENCE, JWT_ISSUER, ORIGIN } from '$app/env/private';
import { SERVICE } from '$app/env/public';

export const auth = createServerAuth({ baseUrl: SERVICE, origin: ORIGIN, issuer: JWT_ISSUER, audience: JWT_AUDIENCE });
