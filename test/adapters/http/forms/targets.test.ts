// Proves ASVS 3.7.2; website-8
import { describe, expect, it } from 'vitest';
import { challengeIn, targetProblem } from '../../../../src/adapters/http/forms/targets.ts';

const APPLICATION = 'https://app.example.org';
const OWN = 'https://auth.example.org';
const PROGRAM = 'capacitor://localhost';

describe.each([
  ['', OWN],
  ['below a path', `${OWN}/tandem`],
])('a page to which a service %s sends a browser', (_where, baseUrl) => {
  const isTarget = (text: string) =>
    targetProblem(text, { baseUrl, targetOrigins: [APPLICATION, OWN, PROGRAM] }) === null;

  it.each([
    ...['/notes?page=2', '/auth/x%2f..%2fy'].map((path) => APPLICATION + path),
    ...['/notes', '/notes/a%20b%C3%BC?to=%2Fauth%2F..'].map((path) => OWN + path),
  ])('may be %s', (text) => {
    expect(isTarget(text)).toBe(true);
  });

  it.each([
    ...['https://evil.example', `${APPLICATION}.evil.example/`, 'https://app.example.org@evil.example/'],
    ...['https://user:password@app.example.org/', 'https://app.example.org:444/', 'http://app.example.org/'],
    ...['//app.example.org/', '/notes', 'notes', '', `blob:${APPLICATION}/c0ffee`, 'data:text/html,hello'],
    `${PROGRAM}/notes`,
    ...[
      `javascript:location="${APPLICATION}"`,
      `${APPLICATION}/${'n'.repeat(2_000)}`,
      `${APPLICATION}/${'ü'.repeat(400)}`,
    ],
  ])('may not be %s', (text) => {
    expect(isTarget(text)).toBe(false);
  });

  const base = new URL(baseUrl).pathname.replace(/\/$/, '');
  it.each([
    ...['/auth/clear-cookie', '/notes/../AUTH/Clear-Cookie?a', '//%61uth/clear-cookie', '/%61uth/clear-cookie'],
    ...['/x%2f..%2fauth/clear-cookie', '/x%2F..%2Fauth/clear-cookie', '/x%5c..%5cauth/clear-cookie'],
    ...['/x/.%2e%2fauth/clear-cookie', '/x/a%2Eb', '/x%252f..%252fauth/clear-cookie', '/x\\..\\auth/clear-cookie'],
    ...['/x/..\t/auth/clear-cookie', '/notes%00/../auth', '/notes%0d%0a', '/notes//auth', '//auth/clear-cookie'],
    ...['/notes/../auth', '/%2e/auth', '/auth/continue?to=https://auth.example.org/notes'],
  ])('is no route of the service, nor may it become one: %s', (path) => {
    expect(isTarget(OWN + base + path)).toBe(false);
  });
});

describe('a link to an app', () => {
  const [LINK, CLAIMED] = ['com.example.app:/signed-in', 'https://app.example.org/signed-in'];
  const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
  const inLink = (text: string) => challengeIn(text, { baseUrl: OWN, targetOrigins: [], appLinks: [LINK, CLAIMED] });

  it('has a challenge', () => {
    for (const link of [LINK, CLAIMED])
      expect(inLink(`${link}?code_challenge=${challenge}&state=a%20b`)).toBe(challenge);
  });

  it.each([
    `com.example.other:/signed-in?code_challenge=${challenge}`,
    `${LINK}/more?code_challenge=${challenge}`,
    `${CLAIMED}/../other?code_challenge=${challenge}`,
    `http://app.example.org/signed-in?code_challenge=${challenge}`,
    `javascript:alert(1)?code_challenge=${challenge}`,
    LINK,
    `${LINK}?code_challenge=plain`,
    `${LINK}?code_challenge=${challenge}&code_challenge=${challenge}`,
    `${LINK}?code_challenge=${challenge}&code=mine`,
    `${LINK}?code_challenge=${challenge}#fragment`,
    `${LINK}?code_challenge=${challenge}\n`,
    `${LINK}?code_challenge=${challenge}&state=${'a'.repeat(2_000)}`,
  ])('is not %j', (text) => {
    expect(inLink(text)).toBeNull();
  });
});
