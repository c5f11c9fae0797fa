import { laidOut, type MailContext, type MailText, resetPage } from './layout.ts';
import { durationText, own, prose, timeText } from './prose.ts';

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
  laidOut(context, `Confirm your email address at ${context.serviceName}`, [
    prose`The account "${username}" was registered at ${own(context.serviceName)} with this email address. If it was you, confirm the address with this link:`,
    { label: 'Confirm my email address', link: confirmLink },
    prose`If you did not register, remove the account with this link:`,
    { label: 'I did not register: remove the account', link: disownLink },
    prose`Both links are valid for ${own(durationText(validFor))}.`,
  ]);

/** For somebody who has an account, after an attempt to register another one with the same address. */
export const addressTaken = (context: MailContext): MailText =>
  laidOut(context, `You already have an account at ${context.serviceName}`, [
    prose`Somebody tried to register at ${own(context.serviceName)} with this email address, which already has an account.`,
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
  laidOut(context, `Confirm your new email address at ${context.serviceName}`, [
    prose`The account "${username}" at ${own(context.serviceName)} is to have this email address. If this is your account, confirm the address with this link:`,
    { label: 'Confirm my new email address', link },
    prose`It is valid for ${own(durationText(validFor))}, and works once.`,
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
  laidOut(context, `Your email address at ${context.serviceName} was changed`, [
    prose`The email address of your account "${username}" at ${own(context.serviceName)} was changed to ${masked(newEmail)}. If it was you, you have nothing to do.`,
    prose`If it was not you, undo the change with this link:`,
    { label: 'Undo the change', link: undoLink },
    prose`It is valid for ${own(durationText(undoFor))}. The password then stops working, since somebody else may know it, all devices are logged out, and you get a link for a new one.`,
  ]);

/** The same, while an address from before the former one can still be restored. */
export const emailChangedAgain = (
  context: MailContext,
  { username, newEmail }: { readonly username: string; readonly newEmail: string },
): MailText =>
  laidOut(context, `Your email address at ${context.serviceName} was changed`, [
    prose`The email address of your account "${username}" at ${own(context.serviceName)} was changed to ${masked(newEmail)}. If it was you, you have nothing to do.`,
    prose`If it was not you, use the link in the message that was sent to the address before this one: it restores that address.`,
  ]);

/** For both addresses. @param undoUntil epoch milliseconds. */
export const emailChangeFinal = (
  context: MailContext,
  { username, undoUntil }: { readonly username: string; readonly undoUntil: number },
): MailText =>
  laidOut(context, `The new email address at ${context.serviceName} is about to be final`, [
    prose`The email address of the account "${username}" at ${own(context.serviceName)} was changed, and its password was then reset by the new address.`,
    prose`Until ${own(timeText(undoUntil))} the former address can still take the account back, with the link in the message that told of the change. Afterwards it cannot.`,
    prose`If this was agreed, you have nothing to do.`,
  ]);

/** For the address that an account has again. */
export const emailChangeUndone = (context: MailContext, { username }: { readonly username: string }): MailText =>
  laidOut(context, `Your email address at ${context.serviceName} was restored`, [
    prose`The change of the email address of your account "${username}" at ${own(context.serviceName)} was undone: the account has this address again.`,
    prose`The password no longer works, since whoever changed the address knew it, and all devices were logged out. Choose a new one with the link in the next message, or ask for another link here:`,
    resetPage(context),
  ]);

/** Whoever reads the former mailbox learns enough to recognize an address, and not the address. */
const masked = (email: string): string => {
  const at = email.lastIndexOf('@');
  return `${[...email.slice(0, at)][0] ?? ''}***${email.slice(at)}`;
};
