import { factsOf, type Happened } from './happened.ts';
import { laidOut, type MailContext, type MailText, resetPage } from './layout.ts';
import { own, prose } from './prose.ts';

export const newDevice = (context: MailContext, happened: Happened): MailText =>
  laidOut(context, `A log-in on a new device at ${context.serviceName}`, [
    prose`Somebody logged in to your account at ${own(context.serviceName)} on a device that we have not seen before.`,
    factsOf(happened),
    prose`If it was you, you have nothing to do.`,
    prose`If it was not you, somebody else knows your password. Reset it now, which logs out all devices:`,
    resetPage(context),
  ]);

export const tokenReplayed = (context: MailContext, happened: Happened): MailText =>
  laidOut(context, `A session at ${context.serviceName} was ended for your protection`, [
    prose`A session of your account at ${own(context.serviceName)} was ended, because its token was used a second time. That happens when a connection was lost while the session was renewed, and when a token was copied from the device.`,
    factsOf(happened),
    prose`If this is your device and your connection was bad, or you restored a backup, log in again: you have nothing else to do.`,
    prose`If not, somebody else may have had access to the device or to its browser: check it for unknown programs and extensions, then reset your password, which logs out all devices:`,
    resetPage(context),
  ]);
