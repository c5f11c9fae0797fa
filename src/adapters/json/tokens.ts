import * as v from 'valibot';
import { PublicUserJson } from './public-user.ts';

const AccessToken = v.pipe(v.string(), v.examples(['eyJhbGciOiJFUzI1NiIs…']));

export const RefreshResult = v.object({ accessToken: AccessToken });
export const LoginResult = v.object({ accessToken: AccessToken, user: PublicUserJson });
