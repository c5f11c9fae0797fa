import { expect } from 'vitest';
import { joseDeviceKey } from '../jose-proofs.ts';
import { ORIGIN, type Visitor, visitorOf } from './page-visitor.ts';
import { aPerson, type TestService } from './service.ts';

/** Matches the secret of an authenticator app in the HTML of a page. */
export const SHOWN_SECRET = /<code>((?:[A-Z2-7]{4} ?){8})<\/code>/;

/** Starts adding an authenticator app with a form of the open page. @returns the secret of the app */
export const startApp = async (visitor: Visitor, form = 'factors.start-app'): Promise<string> => {
  await visitor.submit(form);
  const [, shown = ''] = SHOWN_SECRET.exec((await visitor.follow()).text) ?? expect.unreachable();
  return shown.replaceAll(' ', '');
};

/** Registers a visitor at the pages with a session that is bound to a device's key, as the pages' script does. */
export const boundVisitor = async (service: Pick<TestService, 'http'>, clock: { readonly now: () => number }) => {
  const [key, visitor, person] = [await joseDeviceKey(), visitorOf(service), aPerson()];
  const proofFor = (path: string, by = key) => by.proof({ htu: ORIGIN + path, now: clock.now() });
  await visitor.open('/auth/register');
  await visitor.submit('register.register', { ...person, proof: await proofFor('/auth/register') });
  return { ...visitor, person, key, proofFor };
};
