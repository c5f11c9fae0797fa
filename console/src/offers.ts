/** Removes the parts that need what the service does not offer, and the explanations why they are missing if it does. */
export const showOffers = (): void => {
  const offered = document.querySelector<HTMLMetaElement>('meta[name=offers]')?.content.split(' ') ?? [];
  for (const part of document.querySelectorAll<HTMLElement>('[data-needs], [data-without]')) {
    const { needs, without = '' } = part.dataset;
    const isNeeded = needs === undefined ? !offered.includes(without) : offered.includes(needs);
    if (!isNeeded) part.remove();
  }
};
