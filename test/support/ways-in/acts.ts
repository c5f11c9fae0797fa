import { expect } from 'vitest';
import type { AccountAct } from '../../../src/domain/ways-in.ts';
import type { OwnedAccount } from './world.ts';

type Run = (world: OwnedAccount) => Promise<unknown>;

const NEW_PASSWORD = 'the battery of the owner';

/** What happens when a stranger gets in, for each act that takes the account back to the time before that. */
export const INTRUSIONS: Readonly<Partial<Record<AccountAct, Run>>> = {
  'email-change-undone': async ({ account, changeAddress, service }) => {
    await changeAddress(account.other);
    expect(await service.ports.users.findByEmail(account.other)).toMatchObject({ id: account.id });
  },
  'factors-undone': async ({ logIn, finished }) => {
    const userAgent = 'a device that nobody knows';
    expect((await finished(await logIn(undefined, userAgent), userAgent)).status).toBe(200);
  },
};

/** What the owner or an operator does at each act. @param mine whether the tested way in belongs to the acting person */
export const ACTIONS: Readonly<Record<AccountAct, (world: OwnedAccount, mine: boolean) => Promise<unknown>>> = {
  'password-changed': async ({ me, account, hold }) => {
    const change = { currentPassword: account.password, newPassword: NEW_PASSWORD };
    hold(await me('put', '/users/me/password', change).expect(200));
    account.password = NEW_PASSWORD;
  },
  'password-reset': async ({ account, askForLink, confirmLink }) => {
    const token = await askForLink('password-reset');
    await confirmLink('/auth/password-reset/confirm', token, { newPassword: NEW_PASSWORD }).expect(200);
    account.password = NEW_PASSWORD;
  },
  /** The owner proves the address by the link in a mail if `mine`, or else by a code. */
  'address-proven': async ({ askForLink, confirmLink, askForCode }, mine) =>
    mine
      ? confirmLink('/auth/email-verification/confirm', await askForLink('email-verification')).expect(200)
      : (await askForCode())(),
  'email-change-requested': ({ account, askForAddress }) => askForAddress(account.other),
  'email-changed': async (world) => {
    await INTRUSIONS['email-change-undone']?.(world);
    world.account.mailbox = world.account.other;
  },
  'email-change-undone': async ({ account, tokenIn, confirmLink }) => {
    await confirmLink('/auth/email-change/undo', await tokenIn(account.mailbox, 'email-change-undo')).expect(200);
    account.email = account.mailbox;
  },
  'factors-undone': async ({ account, mailer, confirmLink, tokenIn }) => {
    await tokenIn(account.mailbox, 'factors-undo');
    const mail = mailer.mails.findLast(
      ({ to, text }) => to === account.mailbox && text.includes('a device that nobody'),
    );
    const [, token = ''] = /factors-undo#token=([\w-]+)/.exec(mail?.text ?? '') ?? [];
    await confirmLink('/auth/factors/undo', token).expect(200);
  },
  // Each way in has its own `remove`.
  'way-removed': async () => undefined,
  'all-ended': async ({ me, hold, account }) => {
    hold(await me('post', '/auth/step-up', { password: account.password }).expect(200));
    hold(await me('delete', '/auth/sessions?except=current').expect(200));
  },
  disabled: async ({ office, account }) =>
    expect((await office('post', `/users/${account.id}/disable`)).status).toBe(200),
  returned: async ({ office, account }) =>
    expect((await office('put', `/users/${account.id}/email`, { email: account.email, final: true })).status).toBe(200),
  'factors-removed': async ({ office, account }) =>
    expect((await office('delete', `/users/${account.id}/factors`)).status).toBe(200),
  'account-deleted': ({ me, account }) => me('delete', '/users/me', { password: account.password }).expect(200),
};
