import { domainToASCII } from 'node:url';
import { typedName } from '../../domain/text.ts';

/** No port and no path: `domainToASCII` would take them off. A longer domain is none. */
const DOMAIN = /(?<=@)[\w.\u0080-\u{10ffff}-]{1,253}$/u;

/** A username or an email address as somebody has typed it, an international domain in the form that mail servers know: `jo@xn--bcher-kva.example`. */
export const typedAccount = (text: string): string =>
  typedName(text).replace(DOMAIN, (domain) => domainToASCII(domain) || domain);
