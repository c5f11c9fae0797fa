import { factsOf, type Happened } from './happened.ts';
import { laidOut, type MailContext, type MailText, resetPage } from './layout.ts';
import { own, prose } from './prose.ts';
import { durationText } from './wording.ts';

/** @param validFor milliseconds. */
export const passwordReset = (
  context: MailContext,
  { link, validFor }: { readonly link: string; readonly validFor: number },
): MailText =>
  laidOut(context, `Reset your password at ${context.serviceName}`, [
    prose`Somebody asked to reset the password of the account with this email address at ${own(context.serviceName)}. To choose a new password, open this link:`,
    { label: 'Choose a new password', link },
    prose`It is valid for ${own(durationText(validFor))}, and works once. A new password logs out all devices.`,
    prose`If it was not you, you can ignore this message: nothing has changed.`,
  ]);

export const passwordChanged = (context: MailContext, happened: Happened): MailText =>
  laidOut(context, `Your password at ${context.serviceName} was changed`, [
    prose`The password of your account at ${own(context.serviceName)} was changed.`,
    factsOf(happened),
    prose`If it was you, you have nothing to do.`,
    prose`If it was not you, somebody else knows your password and has replaced it. Reset the password now, which logs out all devices:`,
    resetPage(context),
  ]);

export const passwordWasReset = (context: MailContext, happened: Happened): MailText =>
  laidOut(context, `Your password at ${context.serviceName} was reset`, [
    prose`The password of your account at ${own(context.serviceName)} was reset with a link that was sent to this email address. All devices were logged out.`,
    factsOf(happened),
    prose`If it was you, you have nothing to do.`,
    prose`If it was not you, somebody else can read your email. Change the password of your mailbox first. Then reset your password at ${own(context.serviceName)}:`,
    resetPage(context),
  ]);
