import { fileProblems, sameText, textProblems } from '../../../application/check-texts.ts';
import { PAGES } from '../forms/flow.ts';
import { templateProblems } from './check-templates.ts';
import { OTHER_LINKS } from './user-pages.ts';

const LINKS = [...Object.keys(PAGES), ...OTHER_LINKS].map((name) => `link.${name}`);

type Files = ReadonlyMap<string, string>;

/**
 * What is wrong with files of templates and texts, a line each, which begins with the file.
 * @param builtIn the files of the service
 */
export const pageProblems = (own: Files, builtIn: Files): string[] => {
  const { pages = {}, common = {} } = JSON.parse(builtIn.get('en.json') ?? '{}');
  return fileProblems(own, builtIn, {
    ofTemplate(text, name) {
      const ofService = builtIn.get(`${name}.html`);
      if (ofService === undefined) return ['there is no page of this name: npx tandem templates eject DIR writes all'];
      // The layout and pages without forms of their own have no others.
      if (!(name in PAGES)) return templateProblems(text, ofService, []);
      const texts = Object.keys({ ...common, ...pages[name] }).map((each) => `text.${each}`);
      return templateProblems(text, ofService, ['title', ...texts, ...LINKS]);
    },
    ofTexts: (texts, english) => textProblems(texts, english, sameText),
    needed: ['direction'],
  });
};
