import * as v from 'valibot';
import { CurrentPassword, Email, LinkToken, Username } from './schemas.ts';

/** The bodies of requests about accounts. */

export const AddressBody = v.pipe(v.object({ email: Email }), v.examples([{ email: 'ada@example.org' }]));

export const LinkBody = v.pipe(
  v.object({ token: LinkToken }),
  v.examples([{ token: 'Zk3cO4nJ1xqk0m7h5v8s2r6t9w1y3u5i7o9p2a4d6fg' }]),
);

export const ConfirmEmailChangeBody = v.pipe(
  v.object({ token: LinkToken, password: v.optional(CurrentPassword) }),
  v.examples([{ token: 'Zk3cO4nJ1xqk0m7h5v8s2r6t9w1y3u5i7o9p2a4d6fg', password: 'correct horse' }]),
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
