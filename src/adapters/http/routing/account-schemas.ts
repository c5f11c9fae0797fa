import * as v from 'valibot';
import { Email, Username } from './schemas.ts';

/** The bodies of requests about accounts. */

/** Of any form: one that was never sent is simply not found. */
const Token = v.pipe(v.string(), v.minLength(1, 'must have at least 1 character'));

/** The current password has no limits: it may be older than they are. */
const CurrentPassword = v.pipe(v.string(), v.minLength(1, 'must have at least 1 character'));

export const AddressBody = v.pipe(v.object({ email: Email }), v.examples([{ email: 'ada@example.org' }]));

export const LinkBody = v.pipe(
  v.object({ token: Token }),
  v.examples([{ token: 'Zk3cO4nJ1xqk0m7h5v8s2r6t9w1y3u5i7o9p2a4d6fg' }]),
);

export const ChangeUsernameBody = v.pipe(v.object({ username: Username }), v.examples([{ username: 'ada.lovelace' }]));

export const ChangeEmailBody = v.pipe(
  v.object({ email: Email, password: CurrentPassword }),
  v.examples([{ email: 'ada@example.net', password: 'correct horse' }]),
);

export const DeleteAccountBody = v.pipe(
  v.object({ password: CurrentPassword }),
  v.examples([{ password: 'correct horse' }]),
);
