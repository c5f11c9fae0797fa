import { expect } from 'vitest';
import { joseDeviceKey } from '../jose-proofs.ts';
import { ORIGIN, type Visitor, visitorOf } from './page-visitor.ts';
import { aPerson, type TestService } from './service.ts';

/** The secret of an authenticator app as a page shows it. */
export const SHOWN_SECRET = /<code>((?:[A-Z2-7]{4} ?){8})<\/code>/;

/** Starts an app with a form of the page that is open. @returns its secret. */
export const startApp = async (visitor: Visitor, form = 'factors.start-app'): Promise<string> => {
  await visitor.submit(form);
  const [, shown = ''] = SHOWN_SECRET.exec((await visitor.follow()).text) ?? expect.unreachable();
  return shown.replaceAll(' ', '');
};

/** Somebody who has registered at the pages, whose session has the key of the device as the script of the pages makes it. */
export const boundVisitor = async (service: Pick<TestService, 'http'>, clock: { readonly now: () => number }) => {
  const [key, visitor, person] = [await joseDeviceKey(), visitorOf(service), aPerson()];
  const proofFor = (path: string, by = key) => by.proof({ htu: ORIGIN + path, now: clock.now() });
  await visitor.open('/auth/register');
  await visitor.submit('register.register', { ...person, proof: await proofFor('/auth/register') });
  return { ...visitor, person, key, proofFor };
};
