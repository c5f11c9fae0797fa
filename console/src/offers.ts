/**
 * Hides the parts that need what the service does not offer, or, if it does, the explanations why they are missing.
 * @param own what the browser offers.
 */
export const showOffers = (own: readonly string[]): void => {
  const ofService = document.querySelector<HTMLMetaElement>('meta[name=offers]')?.content.split(' ') ?? [];
  const offered = [...ofService, ...own];
  for (const part of document.querySelectorAll<HTMLElement>('[data-needs], [data-without]')) {
    const { needs, without = '' } = part.dataset;
    part.hidden = needs === undefined ? offered.includes(without) : !offered.includes(needs);
  }
};
