import { factsOf, type Happened } from './happened.ts';
import { laidOut, type MailContext, type MailText } from './layout.ts';
import { own, prose } from './prose.ts';

export const newDevice = (context: MailContext, happened: Happened): MailText =>
  laidOut(context, `A log-in on a new device at ${context.serviceName}`, [
    prose`Somebody logged in to your account at ${own(context.serviceName)} on a device that we have not seen before.`,
    factsOf(happened),
    prose`If it was you, you have nothing to do.`,
    prose`If it was not you, somebody else knows your password. Go to ${own(context.serviceName)} now and reset it with "forgot password". That logs out all devices.`,
  ]);

export const tokenReplayed = (context: MailContext, happened: Happened): MailText =>
  laidOut(context, `A session at ${context.serviceName} was ended for your protection`, [
    prose`A session of your account at ${own(context.serviceName)} was ended, because its token was used a second time. That happens when a token was copied from a device.`,
    factsOf(happened),
    prose`You may have to log in again. If you did not copy anything, for instance by restoring a backup, somebody else may have had access to the device or to its browser: check it for unknown programs and extensions, then change your password.`,
  ]);
