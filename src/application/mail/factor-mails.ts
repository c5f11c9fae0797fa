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

export const secondFactorAdded = (context: MailContext, happened: TimeAndDevice): MailText =>
  mailLayout(context, `An authenticator app was added to your account at ${context.serviceName}`, [
    prose`An authenticator app was added to your account at ${trusted(context.serviceName)}. A log-in with the password now needs a code, too.`,
    factsOf(happened),
    prose`If it was you, you have nothing to do.`,
    prose`If it was not you, somebody else has access to your account. Reset the password now, which logs out all devices. Then log in, and remove the app: a new password does not. If you are asked for a code that you do not have, turn to the operator of the service.`,
    resetPage(context),
  ]);

export const secondFactorRemoved = (context: MailContext, happened: TimeAndDevice): MailText =>
  mailLayout(context, `An authenticator app was removed from your account at ${context.serviceName}`, [
    prose`An authenticator app was removed from your account at ${trusted(context.serviceName)}. If there is no other one, the password alone logs in again.`,
    factsOf(happened),
    prose`If it was you, you have nothing to do.`,
    prose`If it was not you, somebody else has access to your account. Reset the password now, which logs out all devices. Then log in, and add an authenticator app again:`,
    resetPage(context),
  ]);

export const recoveryCodeUsed = (context: MailContext, happened: TimeAndDevice): MailText =>
  mailLayout(context, `A recovery code of your account at ${context.serviceName} was used`, [
    prose`A recovery code of your account at ${trusted(context.serviceName)} was used in place of an authenticator app. It does not work again.`,
    factsOf(happened),
    prose`If it was you, make new recovery codes before you run out of them.`,
    prose`If it was not you, somebody else has your recovery codes and knows your password. Reset the password now, which logs out all devices. Then log in, and make new recovery codes:`,
    resetPage(context),
  ]);

export const recoveryCodesMade = (context: MailContext, happened: TimeAndDevice): MailText =>
  mailLayout(context, `New recovery codes for your account at ${context.serviceName}`, [
    prose`Recovery codes were made for your account at ${trusted(context.serviceName)}. Each replaces the code of an authenticator app once. Earlier ones no longer work.`,
    factsOf(happened),
    prose`If it was you, you have nothing to do.`,
    prose`If it was not you, somebody else has access to your account. Reset the password now, which logs out all devices. Then log in, and make new recovery codes: a new password does not replace them.`,
    resetPage(context),
  ]);
