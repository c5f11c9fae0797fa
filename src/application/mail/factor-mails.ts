import { type MailContext, type MailText, mailLayout, prose, resetPage, trusted } from './layout.ts';
import { factsOf, type TimeAndDevice } from './security-mails.ts';

export const passkeyAdded = (context: MailContext, happened: TimeAndDevice): MailText =>
  mailLayout(context, `A passkey was added to your account at ${context.serviceName}`, [
    prose`A passkey was added to your account at ${trusted(context.serviceName)}. Its device can now log in without the password.`,
    factsOf(happened),
    prose`If it was you, you have nothing to do.`,
    prose`If it was not you, somebody else has access to your account. Reset the password now, which logs out all devices. Then log in, and remove the passkey: a new password does not.`,
    resetPage(context),
  ]);

export const passkeyRemoved = (context: MailContext, happened: TimeAndDevice): MailText =>
  mailLayout(context, `A passkey was removed from your account at ${context.serviceName}`, [
    prose`A passkey was removed from your account at ${trusted(context.serviceName)}. Its device can no longer log in with it.`,
    factsOf(happened),
    prose`If it was you, you have nothing to do.`,
    prose`If it was not you, somebody else has access to your account. Reset the password now, which logs out all devices:`,
    resetPage(context),
  ]);

export const passkeyCopySuspected = (context: MailContext, happened: TimeAndDevice): MailText =>
  mailLayout(context, `A passkey of your account at ${context.serviceName} may have been copied`, [
    prose`A security key of your account at ${trusted(context.serviceName)} counts how often it is used, and its last count is not above the one before. So there may be a second device with the same key. It happens, too, when the security key was reset or is faulty.`,
    factsOf(happened),
    prose`Log in, remove this passkey, and add a new one.`,
    prose`If this was not your device, somebody else may have logged in with the copy. Reset the password, which logs out all devices:`,
    resetPage(context),
  ]);
