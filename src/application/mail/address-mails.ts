import {
  durationText,
  type MailContext,
  type MailText,
  mailLayout,
  prose,
  resetPage,
  timeText,
  trusted,
} from './layout.ts';

/** For a new account. @param validFor milliseconds, of both links. */
export const verifyEmail = (
  context: MailContext,
  {
    username,
    confirmLink,
    disownLink,
    validFor,
  }: {
    readonly username: string;
    readonly confirmLink: string;
    readonly disownLink: string;
    readonly validFor: number;
  },
): MailText =>
  mailLayout(context, `Confirm your email address at ${context.serviceName}`, [
    prose`The account "${username}" was registered at ${trusted(context.serviceName)} with this email address. If it was you, confirm the address with this link:`,
    { label: 'Confirm my email address', link: confirmLink },
    prose`If you did not register, remove the account with this link:`,
    { label: 'I did not register: remove the account', link: disownLink },
    prose`Both links are valid for ${trusted(durationText(validFor))}.`,
  ]);

/** For the owner of an account, after somebody tried to register with the same address. */
export const addressTaken = (context: MailContext): MailText =>
  mailLayout(context, `You already have an account at ${context.serviceName}`, [
    prose`Somebody tried to register at ${trusted(context.serviceName)} with this email address, which already has an account.`,
    prose`If it was you, log in to that account.`,
    prose`If it was not you, nobody has got into your account. If its address was not confirmed yet, its password no longer works.`,
    prose`If you need a new password, ask for a link here:`,
    resetPage(context),
  ]);

/** For the new address of an account. @param validFor milliseconds. */
export const confirmEmailChange = (
  context: MailContext,
  { username, link, validFor }: { readonly username: string; readonly link: string; readonly validFor: number },
): MailText =>
  mailLayout(context, `Confirm your new email address at ${context.serviceName}`, [
    prose`The account "${username}" at ${trusted(context.serviceName)} is to have this email address. If this is your account, confirm the address with this link:`,
    { label: 'Confirm my new email address', link },
    prose`It is valid for ${trusted(durationText(validFor))}, and works once.`,
    prose`If it is not your account, you can ignore this message: the address will not be used.`,
  ]);

/** For the former address of an account. @param undoFor milliseconds. */
export const emailChanged = (
  context: MailContext,
  {
    username,
    newEmail,
    undoLink,
    undoFor,
  }: { readonly username: string; readonly newEmail: string; readonly undoLink: string; readonly undoFor: number },
): MailText =>
  mailLayout(context, `Your email address at ${context.serviceName} was changed`, [
    prose`The email address of your account "${username}" at ${trusted(context.serviceName)} was changed to ${masked(newEmail)}. If it was you, you have nothing to do.`,
    prose`If it was not you, undo the change with this link:`,
    { label: 'Undo the change', link: undoLink },
    prose`It is valid for ${trusted(durationText(undoFor))}. The password then stops working, since somebody else may know it, all devices are logged out, and you get a link for a new one.`,
  ]);

/** For the former address, while an even earlier address can still be restored. */
export const emailChangedAgain = (
  context: MailContext,
  { username, newEmail }: { readonly username: string; readonly newEmail: string },
): MailText =>
  mailLayout(context, `Your email address at ${context.serviceName} was changed`, [
    prose`The email address of your account "${username}" at ${trusted(context.serviceName)} was changed to ${masked(newEmail)}. If it was you, you have nothing to do.`,
    prose`If it was not you, use the link in the message that was sent to the address before this one: it restores that address.`,
  ]);

/** For both addresses. @param undoUntil epoch milliseconds. */
export const emailChangeFinal = (
  context: MailContext,
  { username, undoUntil }: { readonly username: string; readonly undoUntil: number },
): MailText =>
  mailLayout(context, `The new email address at ${context.serviceName} is about to be final`, [
    prose`The email address of the account "${username}" at ${trusted(context.serviceName)} was changed, and its password was then reset by the new address.`,
    prose`Until ${trusted(timeText(undoUntil))} the former address can still take the account back, with the link in the message that reported the change. Afterwards it cannot.`,
    prose`If this was agreed, you have nothing to do.`,
  ]);

/** For the address that an account has again. */
export const emailChangeUndone = (context: MailContext, { username }: { readonly username: string }): MailText =>
  mailLayout(context, `Your email address at ${context.serviceName} was restored`, [
    prose`The change of the email address of your account "${username}" at ${trusted(context.serviceName)} was undone: the account has this address again.`,
    prose`The password no longer works, since somebody else may know it, and all devices were logged out. Choose a new one with the link in the next message, or ask for another link here:`,
    resetPage(context),
  ]);

/** Shows enough of an address to recognize it. A reader of the former mailbox must not learn the new address. */
const masked = (email: string): string => {
  const at = email.lastIndexOf('@');
  return `${[...email.slice(0, at)][0] ?? ''}***${email.slice(at)}`;
};
