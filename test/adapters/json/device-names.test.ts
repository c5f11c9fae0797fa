import { describe, expect, it } from 'vitest';
import { deviceNames } from '../../../src/adapters/json/device-names.ts';
import { shortUserAgent } from '../../../src/domain/device.ts';

const CHROME = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0';

const nameOf = await deviceNames();

describe('the name of a device', () => {
  it.each([
    ['Firefox on Windows', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0'],
    ['Firefox on Linux', 'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0'],
    ['Chrome on macOS', `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${CHROME} Safari/537.36`],
    ['Chrome on Android', `Mozilla/5.0 (Linux; Android 10; K) ${CHROME} Mobile Safari/537.36`],
    ['Microsoft Edge on Windows', `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36 Edg/142.0.0.0`],
    [
      'Safari on iOS',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
    ],
    [
      'Samsung Internet for Android',
      'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36',
    ],
    ['curl', 'curl/8.14.1'],
    ['our-app on iOS', 'our-app/7.2 (iPhone; iOS 18.6)'],
    ['Windows', 'Mozilla/5.0 (Windows NT 10.0)'],
  ])('is %s', (name, userAgent) => {
    expect(nameOf(userAgent)).toBe(name);
    expect(nameOf(userAgent)).toBe(name);
  });

  it.each([
    ['no user agent', null],
    ['a text', 'A phone'],
    ['markup', '<img src=x onerror="alert(1)"><b>bold</b>'],
    ['what every browser says', 'Mozilla/5.0'],
    ['a comment alone', '(something)'],
    ['a slash', '/'],
  ])('is unknown of %s', (_what, userAgent) => {
    expect(nameOf(userAgent)).toBeNull();
  });

  it.each(['linespider-', 'slackbot-', '/a', 'version/1.', '1', 'os 1_', 'opt/1', 'Mozilla/5.0 (', 'yahoo! \t'])(
    'is found of what is stored of a long text of %j',
    (part) => {
      const stored = shortUserAgent(`${part.repeat(20_000)} like mac os x`);
      expect(stored?.length).toBeLessThanOrEqual(200);
      nameOf(stored);
      nameOf(`Mozilla/5.0 (Macintosh; ${stored}`);
    },
  );
});
