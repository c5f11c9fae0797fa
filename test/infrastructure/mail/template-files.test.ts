import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { templates as examined } from '../../../src/infrastructure/commands/doctor/settings.ts';
import { openTemplates, readTemplates } from '../../../src/infrastructure/mail/template-files.ts';
import { brief, setUpOf } from '../../support/doctor.ts';
import { startService } from '../../support/http/service.ts';
import { runHere } from '../../support/processes/commands.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const RESET = 'Hallo von {{brand}}\n\nHier, {{validFor}} lang:\n{{link}}\n';

const directoryWith = (files: Readonly<Record<string, string>>): string => {
  const directory = temporaryDirectory();
  onTestFinished(directory.remove);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory.path, path)), { recursive: true });
    writeFileSync(join(directory.path, path), text);
  }
  return directory.path;
};
const opened = (mailTemplates: string | null, defaultLocale = 'en') => openTemplates({ mailTemplates, defaultLocale });
const LAYOUTS = { 'fr/layout.txt': '{{content}}', 'fr/layout.html': '<main>{{content}}</main>' };

describe('MAIL_TEMPLATES', () => {
  it('adds texts and languages to the built-in ones', async () => {
    const { templates, locales } = await opened(directoryWith({ 'de/password-reset.txt': RESET, ...LAYOUTS }), 'fr-CA');
    expect(locales).toEqual(['en', 'de', 'fr']);
    const files = await templates();
    expect(files.get('de/password-reset.txt')).toBe(RESET);
    expect(files.get('en/password-reset.txt')).toContain('Reset your password');
  });

  it('may be written by an editor on Windows, and is refused in an encoding of its own', async () => {
    const directory = directoryWith({ 'de/password-reset.txt': `\uFEFF${RESET}` });
    const { templates } = await opened(directory);
    expect((await templates()).get('de/password-reset.txt')).toBe(RESET);
    writeFileSync(join(directory, 'de/password-reset.txt'), Buffer.from(`Grüße\n\n${RESET}`, 'latin1'));
    await expect(opened(directory)).rejects.toThrow(/password-reset\.txt: it is neither UTF-8/);
  });

  it('may be a mounted volume: hidden files, links and notes beside the languages do no harm', async () => {
    const directory = directoryWith({ '..data/de/password-reset.txt': RESET, '.keep': '', 'README.md': '# Notes' });
    symlinkSync('..data/de', join(directory, 'de'));
    expect([...(await readTemplates(directory)).keys()]).toEqual(['de/password-reset.txt']);
  });

  it('is refused with a line for each problem, before the service opens anything', async () => {
    const files = { 'de/password-reset.txt': 'Kein Link\n\nHallo {{nam}}\n', 'en/other.txt': 'x' };
    const env = { MAIL_TEMPLATES: directoryWith(files) };
    await expect(startService(env, { storage: memoryStorage() })).rejects.toThrow(
      [
        'The configuration is invalid.',
        'MAIL_TEMPLATES: de/password-reset.txt: {{nam}} is unknown here; there are {{brand}}, {{link}}, {{validFor}}',
        'MAIL_TEMPLATES: de/password-reset.txt: {{link}} is missing: the mail needs its link',
        'MAIL_TEMPLATES: en/other.txt: there is no mail of this name: npx tandem mail lists them',
      ].join('\n'),
    );
  });

  it('is refused if it cannot be read, and a default language without texts, too', async () => {
    await expect(opened('/nowhere/at/all')).rejects.toThrow(
      /^The.*\nMAIL_TEMPLATES: the directory cannot be read: ENOENT/,
    );
    await expect(opened(null, 'fr')).rejects.toThrow(/\nDEFAULT_LOCALE: there are no mails in this language$/);
    expect((await opened(null, 'de-CH')).locales).toEqual(['en', 'de']);
  });
});

describe('the doctor examines MAIL_TEMPLATES', () => {
  const findings = (files: Readonly<Record<string, string>>, env = {}) =>
    examined(setUpOf({ MAIL_TEMPLATES: directoryWith(files), ...env }));

  it('as a start does', async () => {
    expect(brief(await examined(setUpOf({})))).toEqual(['ok templates.valid']);
    expect(brief(await findings({ 'de/password-reset.txt': RESET }))).toEqual(['ok templates.valid']);
    expect(brief(await examined(setUpOf({ DEFAULT_LOCALE: 'fr' })))).toEqual(['problem templates.invalid']);
    const wrong = await findings({
      'de/password-reset.txt': 'Betreff\n\n{{link}} {{nam}}\n',
      'de/password-reset.html': '<img src="{{link}}">',
    });
    expect(brief(wrong)).toEqual(Array.from({ length: 5 }, () => 'problem templates.invalid'));
    const seen = JSON.stringify(wrong);
    for (const words of ['{{nam}} is unknown', '{{link}} is missing', 'a mail program could fetch it'])
      expect(seen).toContain(words);
  });

  it('and says which mails of a new language are missing', async () => {
    const [valid, incomplete] = [await findings({ ...LAYOUTS, 'fr/password-reset.txt': RESET })].flat();
    expect(valid).toMatchObject({ severity: 'ok', seen: 'Mails can be written in en, de, fr.' });
    expect(incomplete).toMatchObject({ id: 'templates.incomplete', severity: 'note' });
    expect(incomplete?.seen).toMatch(/^fr lacks login-code, .*recovery-codes-made\.$/);
  });
});

describe('npm run mail', () => {
  const mail = (args: readonly string[], env = {}) => runHere(['mail', ...args], env);

  it('lists the mails and their variables', async () => {
    expect((await mail([])).stdout).toMatch(/^email-verification +\{\{brand\}\} \{\{username\}\} \{\{confirmLink\}\}/m);
  });

  it('shows a mail in a language, as text or as HTML, with the templates of the environment', async () => {
    const env = { MAIL_TEMPLATES: directoryWith({ 'de-AT/password-reset.txt': RESET }), BRAND_NAME: 'Acme' };
    const { stdout: german } = await mail(['render', 'password-reset', '--locale', 'de'], env);
    expect(german).toMatch(/^Subject: Setzen Sie Ihr Passwort bei Acme zurück\n\n/);
    expect(german).toContain('\nhttp://localhost:3000/auth/link/password-reset#token=');
    expect((await mail(['render', 'password-reset', '--locale', 'de-at'], env)).stdout).toMatch(
      /^Subject: Hallo von Acme\n/,
    );
    expect((await mail(['render', 'new-device', '--html'], env)).stdout).toMatch(/^<!doctype html>\n<html lang="en">/);
  });

  it('copies the built-in templates, which are valid, and overwrites nothing', async () => {
    const directory = join(directoryWith({}), 'own');
    expect((await mail(['copy', directory])).stdout).toMatch(/^\d+ files were written/);
    expect([...(await opened(directory).then(({ templates }) => templates()))].length).toBe(
      (await readTemplates(directory)).size,
    );
    expect(await mail(['copy', directory])).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^copy: EEXIST/),
    });
    const withHtml = join(directoryWith({}), 'own');
    await mail(['copy', withHtml, '--html']);
    const files = await readTemplates(withHtml);
    expect(files.get('de/password-reset.html')).toContain('<a href="{{link}}">Neues Passwort festlegen</a>');
    await opened(withHtml);
  });

  it.each([
    [['render'], 'Expected: npx tandem mail render MAIL'],
    [['other'], 'The commands are '],
    [['render', 'none'], 'There is no mail none.'],
    [['render', 'new-device', '--locale', 'de_AT'], '--locale: expected a language tag'],
    [['copy', 'a', 'b'], 'Expected: npx tandem mail copy DIR'],
    [['--other'], 'npx tandem mail render'],
  ])('refuses %j', async (args, message) => {
    expect(await mail(args)).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(message) });
  });
});
